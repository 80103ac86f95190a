import { execFile } from "node:child_process";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { atEndOfRun } from "../support/end-of-run.ts";
import { findNatsSource } from "../support/server-sources.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

/** A file system in memory that is full when a test wants it to be. */
export type SmallDisk = {
  /** For the server that is to meet the full disk. */
  readonly folder: string;
  /** Takes all the space that is left. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  /** Call it once the disk is not used any more. */
  remove(): Promise<void>;
};

/** A cell needs what this machine does not allow: it is neither passed nor failed, and the table says why. */
export class CannotRunHere extends Error {
  override readonly name = "CannotRunHere";
}

/** Room for a minute of mailings, and small enough to be filled in a moment. */
const megabytes = 96;

/** Mounts one, which only root may, and only where the container lets it. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  const { kind } = await findNatsSource();
  if (kind === "running") throw new CannotRunHere("NATS was running already, and its disk is not ours to fill");
  const mountPoint = await temporaryFolder();
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "waybill-test", mountPoint]);
  } catch (failure) {
    await rm(mountPoint, { recursive: true });
    throw new CannotRunHere(`a small file system cannot be mounted: ${String(failure).split("\n").at(-1)}`);
  }
  const folder = join(mountPoint, "data");
  await mkdir(folder);
  const filler = join(mountPoint, "filler");
  let isMounted = true;
  const remove = async (): Promise<void> => {
    if (!isMounted) return;
    // What still has a folder on it, a shell that watched over the server, say, is about to end.
    await run("umount", ["--lazy", mountPoint]);
    isMounted = false;
    await rm(mountPoint, { recursive: true });
  };
  atEndOfRun(remove);
  return { folder, fill: () => writeUntilFull(filler), makeRoom: () => rm(filler), remove };
}

/** In ever smaller pieces, so that not even a page is left. */
async function writeUntilFull(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (let size = 1024 * 1024; size >= 512; ) {
      const { bytesWritten } = await file.write(Buffer.alloc(size)).catch(noSpaceLeft);
      if (bytesWritten < size) size /= 2;
    }
  } finally {
    await file.close();
  }
}

function noSpaceLeft(failure: NodeJS.ErrnoException): { readonly bytesWritten: number } {
  if (failure.code !== "ENOSPC") throw failure;
  return { bytesWritten: 0 };
}
