import type { ContentStore } from "../../content/content-store.ts";
import { readLabels } from "../../content/stored-content.ts";
import { type EventLog, isOfJob, type JobRef, type StoredEvent } from "../../event-log/event-log.ts";
import { createJobFold, type JobProgress } from "./job-fold.ts";
import { createNotifier, endOfPast, type Tail } from "./tail.ts";

export type JobWatch = JobProgress & {
  /** Waits until something has changed, the time is up, or the signal aborts. Throws the failure of the tail. */
  sleep(ms: number): Promise<void>;
  /** Stops the watch. The signal does the same. */
  leave(): void;
};

type Parts = { readonly log: EventLog; readonly contentStore: ContentStore; readonly tail: Tail };

/**
 * Watches one job, folded from its history and then from what is appended, without any read model. Null where the log has
 * no such job. `afterSequence` is the last event that the caller has seen: the watch repeats changes of status since then.
 * Null is for a new caller, who first gets the present state.
 */
export async function watchJob(
  { log, contentStore, tail }: Parts,
  ref: JobRef,
  afterSequence: number | null,
  signal: AbortSignal,
): Promise<JobWatch | null> {
  const notifier = createNotifier(signal);
  const fold = createJobFold(ref.jobId);
  let early: StoredEvent[] | null = [];
  let end = 0;
  let failure: unknown = null;
  const leave = await tail.listen(ref, {
    hear: (entry) => {
      if (!isOfJob(entry)) return;
      if (early !== null) early.push(entry);
      // What the history has is heard as well, a moment later.
      else if (entry.sequence > end) fold.add(entry);
      notifier.notify();
    },
    broken: (reason) => {
      failure = reason;
      notifier.notify();
    },
  });
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    end = await endOfPast(log, tail, afterSequence ?? 0);
    // The subjects of a job are read one by one: they are complete only up to `end`.
    const [history, labels] = await Promise.all([log.readHistory(ref), readLabels(contentStore, ref)]);
    if (history.length === 0) {
      leave();
      return null;
    }
    const past = history.filter(({ sequence }) => sequence <= end);
    fold.begin(past, labels, afterSequence);
    for (const entry of early) if (entry.sequence > end) fold.add(entry);
    early = null;
  } catch (reason) {
    leave();
    throw reason;
  }
  return {
    ...fold.progress,
    sleep: async (ms) => {
      if (failure === null) await notifier.wait(ms);
      if (failure !== null) throw failure;
    },
    leave,
  };
}
