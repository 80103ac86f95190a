import { v7 as uuid } from "uuid";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import { isFeedback } from "../../src/domain/recipients/feedback.ts";
import type { EventLog, Fact, JobRef } from "../../src/event-log/event-log.ts";
import { isDecision } from "./any-history.ts";
import { caused } from "./examples.ts";

/** Stores events of a job one after the other, whatever the decider would say; answers the last one's sequence. */
export async function happen(log: EventLog, job: JobRef, events: readonly EventOfJob[]): Promise<number> {
  let last = 0;
  for (const event of events) {
    if (isDecision(event)) last = await log.append(job, [caused(uuid(), event)], await log.lastDecision(job));
    else if (isFeedback(event)) {
      const before = (await log.readFeedback(job)).at(-1)?.sequence ?? 0;
      last = await log.append(job, [caused(uuid(), event)], before);
    } else last = await log.record(job, [caused(uuid(), event as Fact)]);
  }
  return last;
}

/** A job of its own, of the default tenant unless it says otherwise. */
export const newJob = (tenant = "default"): JobRef => ({ tenant, jobId: uuid() });
