import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";

/**
 * The sequence up to which a read model has to have come, to be asked about a job; null where there is no such job.
 * With the log away what was projected is answered, of jobs that were projected.
 */
export async function readLastDecision(
  log: Pick<EventLog, "lastDecision">,
  job: JobRef,
  isProjected: () => Promise<boolean>,
): Promise<number | null> {
  try {
    const lastDecision = await log.lastDecision(job);
    return lastDecision === 0 ? null : lastDecision;
  } catch (failure) {
    if (failure instanceof Unavailable && (await isProjected())) return 0;
    throw failure;
  }
}
