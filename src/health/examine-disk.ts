import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Finding, fine, serious, warning, wordsOf } from "./finding.ts";

const mebibyte = 1024 * 1024;
const scarce = 1024 * mebibyte;
const hardlyAny = 200 * mebibyte;

/** The disk of the servers that Waybill starts itself. Those of others are on machines that cannot be looked at. */
export async function examineDisk(dataDir: string): Promise<Finding> {
  const path = resolve(dataDir);
  try {
    // Before the first start there is no such folder yet.
    const { bavail, bsize } = await statfs(path).catch(() => statfs(dirname(path)));
    return toFinding(path, bavail * bsize);
  } catch (failure) {
    return warning("disk", `The room under ${path} cannot be told: ${wordsOf(failure)}`, "Look at DATA_DIR.");
  }
}

export function toFinding(path: string, free: number): Finding {
  const what = `${Math.floor(free / mebibyte).toLocaleString("en")} MB are free under ${path}`;
  const advice = "Make room: once the disk is full NATS stores nothing, and has to be started again afterwards.";
  if (free < hardlyAny) return serious("disk", what, advice);
  return free < scarce ? warning("disk", what, advice) : fine("disk", what);
}
