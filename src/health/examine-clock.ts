import { type Finding, fine, serious, warning } from "./finding.ts";

/** A time that a server told, and the times here before it was asked and after it had answered. */
export type ClockReading = { readonly before: number; readonly told: number; readonly after: number };

const noticeableMs = 1000;
const harmfulMs = 30_000;

/** Events carry the time of whoever wrote them: scheduled jobs and histories are only as true as the clocks. */
export function examineClock(server: string, { before, told, after }: ClockReading): Finding {
  const offMs = told < before ? told - before : Math.max(0, told - after);
  const off = Math.abs(offMs);
  if (off < noticeableMs) return fine("clock", `${server} and this machine agree on the time`);
  const what = `The clock of ${server} is ${(off / 1000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"} this machine's`;
  const advice = "Let NTP (chrony, systemd-timesyncd) set the clocks of both machines.";
  return off < harmfulMs ? warning("clock", what, advice) : serious("clock", what, advice);
}
