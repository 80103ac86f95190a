import type { ContentStore } from "../../content/content-store.ts";
import { readLabels } from "../../content/stored-content.ts";
import { noLabels } from "../../domain/job/job-record.ts";
import { foldMailing } from "../../domain/mailing/mailing-view.ts";
import {
  type EventLog,
  isOfTenant,
  type JobRef,
  type StoredEvent,
  type TenantEvent,
} from "../../event-log/event-log.ts";
import { readFeedbackOfEnded, readOpenParts } from "../mailing-from-log.ts";
import type { Progress } from "./changes.ts";
import { createMailingFold, type KnownMailing, type MailingFold, type MailingMoment } from "./mailing-fold.ts";
import { createNotifier, endOfPast, type Tail } from "./tail.ts";

export type MailingWatch = Progress<MailingMoment> & {
  /** Waits until something has changed, the time is up, or the signal aborts. Throws the failure of the tail. */
  sleep(ms: number): Promise<void>;
};

type Parts = { readonly log: EventLog; readonly contentStore: ContentStore; readonly tail: Tail };

/**
 * Watches a mailing as a whole, folded from its history and from that of its open parts, and then from what is appended,
 * without any read model. Null where the log has no such mailing. `seen` is the last event that the caller knows: the
 * watch begins with the present state, unless it is the same. Ends with the signal.
 */
export async function watchMailing(
  { log, contentStore, tail }: Parts,
  ref: JobRef,
  seen: number | null,
  signal: AbortSignal,
): Promise<MailingWatch | null> {
  const notifier = createNotifier(signal);
  /** Null until they were read: until then an event of any job may be one of a part. */
  let partIds: Set<string> | null = null;
  let early: StoredEvent<TenantEvent>[] = [];
  let end = 0;
  let fold: MailingFold | null = null;
  let failure: unknown = null;
  const isOfIt = ({ jobId }: JobRef): boolean => jobId === ref.jobId || (partIds?.has(jobId) ?? true);
  const leave = await tail.listen(
    { tenant: ref.tenant, jobId: null },
    {
      hear: (entry) => {
        if (!isOfTenant(entry) || !isOfIt(entry)) return;
        if (entry.event.type === "MailingPartsAdded" && entry.jobId === ref.jobId) {
          for (const { jobId } of entry.event.data.parts) partIds?.add(jobId);
        }
        if (fold === null) early.push(entry);
        // What the history has is heard as well, a moment later.
        else if (entry.sequence > end) fold.add(entry);
        notifier.notify();
      },
      broken: (reason) => {
        failure = reason;
        notifier.notify();
      },
    },
  );
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  const knownAs = (ids: readonly string[]): void => {
    partIds = new Set(ids);
    for (const { event } of early) {
      if (event.type === "MailingPartsAdded") for (const { jobId } of event.data.parts) partIds.add(jobId);
    }
    early = early.filter(isOfIt);
  };
  try {
    end = await endOfPast(log, tail, seen ?? 0);
    const known = await readKnown({ log, contentStore }, ref, end, knownAs);
    if (known === null) {
      leave();
      return null;
    }
    const begun = createMailingFold(ref.jobId, known, seen);
    for (const entry of early) if (entry.sequence > end) begun.add(entry);
    early = [];
    fold = begun;
    return {
      ...begun.progress,
      sleep: async (ms) => {
        if (failure === null) await notifier.wait(ms);
        if (failure !== null) throw failure;
      },
    };
  } catch (reason) {
    leave();
    throw reason;
  }
}

/** The mailing as it was at `end`. The subjects of a job are read one by one: they are complete only up to there. */
async function readKnown(
  { log, contentStore }: Omit<Parts, "tail">,
  ref: JobRef,
  end: number,
  knownAs: (partIds: readonly string[]) => void,
): Promise<KnownMailing | null> {
  const decisions = (await log.readMailing(ref)).filter(({ sequence }) => sequence <= end);
  const state = foldMailing(decisions.map(({ event }) => event));
  if (state.status === "absent") return null;
  knownAs(state.parts.map(({ jobId }) => jobId));
  const [labels, open, back] = await Promise.all([
    state.isErased ? noLabels : readLabels(contentStore, ref),
    readOpenParts(log, ref, state, end),
    readFeedbackOfEnded(log, ref, state, end),
  ]);
  const sequence = Math.max(decisions.at(-1)?.sequence ?? 0, open.sequence, back.sequence);
  return { state, open: open.views, cameBack: back.cells, labels, sequence };
}
