import type { EventLog } from "../../event-log/event-log.ts";
import type { HeldTurn } from "../../workers/turn.ts";
import type { ReportRequest, ReportSpan } from "./report-source.ts";

/**
 * What a report holds is laid down by the first attempt of its run, and read from the log: all attempts mean the same
 * rows. A job that waited for a time begins with that, so a report of a day that is still to come holds all of it.
 */
export async function spanOf(
  log: EventLog,
  { job, turn, createdAt }: HeldTurn,
  { from, to }: ReportRequest,
): Promise<ReportSpan> {
  const decisions = await log.readDecisions(job);
  const started = decisions.find(({ event }) => event.type === "JobStarted" && event.data.run === turn.run);
  if (started === undefined) throw new Error(`Run ${turn.run} of job ${job.jobId} has not begun.`);
  // A worker's clock may be behind that of whoever took the job: what was asked for before it must not be left out.
  const [, at = createdAt] = [createdAt, started.event.at].sort();
  return { tenant: job.tenant, from, to, began: { sequence: started.sequence, at } };
}
