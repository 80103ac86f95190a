import type { EventLog, JobRef } from "../event-log/event-log.ts";
import type { ContentStore } from "./content-store.ts";
import { decodeContent } from "./encode-content.ts";
import type { ResultRef, ResultStore } from "./result-store.ts";

/** Erases all that was stored for a job, where its history says so. Called again after a crash, it goes on. */
export async function eraseContent(contentStore: ContentStore, job: JobRef): Promise<void> {
  // First, as it is the content that names them.
  await eraseAttachments(contentStore, job);
  await contentStore.erase(job);
}

async function eraseAttachments({ get, attachments }: ContentStore, job: JobRef): Promise<void> {
  const content = await get(job);
  if (content === null) return;
  for (const { sha256 } of decodeContent(content).attachments ?? []) await attachments.erase(job, sha256);
}

type Results = Pick<ResultStore, "get" | "erase">;

/**
 * Erases the files that the runs of a job have stored, whole or not: they hold addresses and subjects. For a job that
 * has ended; one that still runs would go on storing. Called again after a crash, it goes on; where there is nothing
 * (any more), it does nothing.
 */
export async function eraseResult(log: EventLog, results: Results, job: JobRef): Promise<void> {
  const runs = new Set<number>([1]);
  for (const { event } of await log.readDecisions(job)) {
    if (event.type === "JobStarted") runs.add(event.data.run);
  }
  for (const run of runs) await eraseRun(results, { ...job, run });
}

/** From the end: what is left after a crash is still found from its beginning. */
async function eraseRun(results: Results, ref: ResultRef): Promise<void> {
  let chunks = 0;
  while ((await results.get(ref, chunks)) !== null) chunks += 1;
  for (let index = chunks - 1; index >= 0; index -= 1) await results.erase(ref, index);
}
