import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Finding, fine, serious, warning, wordsOf } from "./finding.ts";

/** The time that a server reported, and the time of this machine before the request and after the response. */
export type ClockReading = { readonly before: number; readonly reported: number; readonly after: number };

const noticeableMs = 1000;
const harmfulMs = 30_000;

/** Events carry the time of the machine that wrote them: schedules and histories are only as correct as the clocks. */
export function examineClock(server: string, { before, reported, after }: ClockReading): Finding {
  const offMs = reported < before ? reported - before : Math.max(0, reported - after);
  const off = Math.abs(offMs);
  if (off < noticeableMs) return fine("clock", `${server} and this machine agree on the time`);
  const what = `The clock of ${server} is ${(off / 1000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"} this machine's`;
  const advice = "Let NTP (chrony, systemd-timesyncd) set the clocks of both machines.";
  return off < harmfulMs ? warning("clock", what, advice) : serious("clock", what, advice);
}

const mebibyte = 1024 * 1024;
const scarce = 1024 * mebibyte;
const hardlyAny = 200 * mebibyte;

/** The disk of the servers that Waybill starts itself; the disks of other servers cannot be examined from here. */
export async function examineDisk(dataDir: string): Promise<Finding> {
  const path = resolve(dataDir);
  try {
    // Before the first start the folder does not exist yet.
    const { bavail, bsize } = await statfs(path).catch(() => statfs(dirname(path)));
    return toFinding(path, bavail * bsize);
  } catch (failure) {
    return warning("disk", `The free space under ${path} is unknown: ${wordsOf(failure)}`, "Look at DATA_DIR.");
  }
}

export function toFinding(path: string, free: number): Finding {
  const what = `${Math.floor(free / mebibyte).toLocaleString("en")} MB are free under ${path}`;
  const advice = "Make room: with a full disk NATS stores nothing, and it must be restarted once there is space.";
  if (free < hardlyAny) return serious("disk", what, advice);
  return free < scarce ? warning("disk", what, advice) : fine("disk", what);
}
