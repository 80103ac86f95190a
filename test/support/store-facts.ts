import { v7 as uuid } from "uuid";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { caused, recipientSent } from "./examples.ts";

/** Some facts about a job of their own, stored one after the other. */
export async function storeFacts(log: EventLog, count: number): Promise<{ job: JobRef; sequences: readonly number[] }> {
  const job: JobRef = { tenant: "default", jobId: uuid() };
  const sequences: number[] = [];
  for (let recipient = 0; recipient < count; recipient += 1) {
    sequences.push(await log.record(job, [caused(uuid(), recipientSent({ recipient }))]));
  }
  return { job, sequences };
}
