import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import type { ResultRef, ResultStore } from "./result-store.ts";

/**
 * Erases what the runs of a job have stored, whole or not: reports hold addresses and subjects. For a job that has
 * ended; one that still runs would go on storing. Called again after a crash, it goes on; where there is nothing (any
 * more), it does nothing.
 */
export async function eraseResult(
  log: EventLog,
  results: Pick<ResultStore, "get" | "erase">,
  job: JobRef,
): Promise<void> {
  const runs = new Set<number>([1]);
  for (const { event } of await log.readDecisions(job)) {
    if (event.type === "JobStarted") runs.add(event.data.run);
  }
  for (const run of runs) await eraseRun(results, { ...job, run });
}

/** From the end: what is left after a crash is still found from its beginning. */
async function eraseRun(results: Pick<ResultStore, "get" | "erase">, ref: ResultRef): Promise<void> {
  let chunks = 0;
  while ((await results.get(ref, chunks)) !== null) chunks += 1;
  for (let index = chunks - 1; index >= 0; index -= 1) await results.erase(ref, index);
}
