import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CannotStart } from "../process/lifecycle.ts";
import { identifyProcess } from "./process-identity.ts";

/** Another process works in the data folder. */
export class DataDirInUse extends CannotStart {
  override readonly name = "DataDirInUse";
}

export type DataDirLock = { release(): Promise<void> };

type Holder = { readonly pid: number; readonly startedAt: string };

/**
 * Ensures that only this process works in the folder; throws CannotStart with the id of the other process if there is
 * one. Takes over a lock whose holder is gone, however the holder ended.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lockFile = join(folder, "lock");
  const mine = `${lockFile}.${randomUUID()}`;
  const identity = await identifyProcess(process.pid);
  const holder: Holder = { pid: process.pid, startedAt: identity?.startedAt ?? "" };
  await writeFile(mine, JSON.stringify(holder));
  try {
    for (let attemptsLeft = 10; attemptsLeft > 0; attemptsLeft -= 1) {
      if (await isLinked(mine, lockFile)) return { release: () => rm(lockFile, { force: true }) };
      await removeStaleLock(lockFile, folder);
    }
  } finally {
    await rm(mine, { force: true });
  }
  throw new CannotStart(`${folder} is being locked by other processes; try again`);
}

/** A hard link appears with its whole content or not at all, and replaces no other file: a lock is never half written. */
async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (failure) {
    if (isCode(failure, "EEXIST")) return false;
    throw failure;
  }
}

async function removeStaleLock(lockFile: string, folder: string): Promise<void> {
  const found = await readFile(lockFile, "utf8").catch(() => null);
  if (found === null) return;
  await refuseIfHeld(found, folder);
  // Another process may have removed the stale lock a moment ago and hold a new one by now. So the moved file is read
  // again, and put back if it is not the stale lock.
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    await rename(lockFile, aside);
  } catch (failure) {
    if (isCode(failure, "ENOENT")) return;
    throw failure;
  }
  const moved = await readFile(aside, "utf8");
  if (moved !== found) await isLinked(aside, lockFile);
  await rm(aside, { force: true });
}

async function refuseIfHeld(content: string, folder: string): Promise<void> {
  const holder = parseHolder(content);
  if (holder === null) return;
  const identity = await identifyProcess(holder.pid);
  if (identity === null || identity.startedAt !== holder.startedAt) return;
  throw new DataDirInUse(
    `${folder} is in use by another Waybill, process ${holder.pid}. End it first, or set DATA_DIR to another folder`,
  );
}

function parseHolder(content: string): Holder | null {
  try {
    const { pid, startedAt }: Partial<Holder> = JSON.parse(content);
    return typeof pid === "number" && typeof startedAt === "string" ? { pid, startedAt } : null;
  } catch {
    return null;
  }
}

const isCode = (failure: unknown, code: string): boolean =>
  failure instanceof Error && "code" in failure && failure.code === code;
