import { isPassing } from "../api/client.ts";
import { Problem } from "../api/problem.ts";
import type { GivenReason } from "../parts/ask-dialog.tsx";
import { pause } from "../reading/pause.ts";
import { act, actionsFor } from "./job-actions.tsx";
import { allJobs, type JobFilter } from "./jobs-list.ts";

export type BulkAction = "cancel" | "retry";
export type Progress = { readonly done: number; readonly skipped: number; readonly of: number };

const atOnce = 4;
const pauseMs = 2000;

/** The jobs that match now and to which the action can apply. Jobs that match only later are not among them. */
export async function findJobs(
  filter: JobFilter,
  action: BulkAction,
  signal: AbortSignal,
  onFound: (count: number) => void,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const jobs of allJobs(filter, signal)) {
    for (const job of jobs) if (actionsFor(job).includes(action)) found.add(job.id);
    onFound(found.size);
  }
  return [...found];
}

/** Sends one request per job, a few at a time, until all are done or it is stopped. Skips jobs that do not allow it. */
export async function actOnAll(
  action: BulkAction,
  ids: readonly string[],
  given: GivenReason,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const waiting = ids.values();
  let [done, skipped] = [0, 0];
  const hand = async (): Promise<void> => {
    for (const id of waiting) {
      if (signal.aborted) return;
      if (await actOn(action, id, given, signal)) done += 1;
      else skipped += 1;
      onProgress({ done, skipped, of: ids.length });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
}

/** False where the job's status does not allow the action, or the job no longer exists. */
async function actOn(action: BulkAction, id: string, given: GivenReason, signal: AbortSignal): Promise<boolean> {
  // The request before may have been carried out, though its answer was lost: then the status no longer allows it.
  let mayBeDone = false;
  while (!signal.aborted) {
    try {
      await act(action, id, given);
      return true;
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 404) return false;
      if (failure instanceof Problem && failure.status === 409) return mayBeDone;
      if (!isPassing(failure)) throw failure;
      mayBeDone = true;
      await pause(failure.retryAfterMs ?? pauseMs, signal);
    }
  }
  return false;
}
