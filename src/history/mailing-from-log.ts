import type { ContentStore } from "../content/content-store.ts";
import { readLabels } from "../content/stored-content.ts";
import { noLabels } from "../domain/job/job-record.ts";
import { foldJobView, type JobView } from "../domain/job/job-view.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { MailingRecord } from "../domain/mailing/mailing-record.ts";
import { foldMailing, toMailingRecord } from "../domain/mailing/mailing-view.ts";
import type { ExistingMailing } from "../domain/mailing/state.ts";
import { type FeedbackCells, isFeedback, recordFeedback } from "../domain/recipients/feedback.ts";
import type { EventLog, JobRef, Notice, StoredEvent } from "../event-log/event-log.ts";
import { inOrder } from "../event-log/select-events.ts";

/** `sequence` is the last event that shaped the mailing. */
export type MailingFromLog = { readonly mailing: MailingRecord; readonly sequence: number };

/**
 * One mailing, folded from its own history and from that of its parts that are jobs and have not ended, without any read
 * model: as it is, or as it was after an entry of the log. Null where the log has no such mailing.
 */
export async function mailingFromLog(
  log: EventLog,
  contentStore: ContentStore,
  ref: JobRef,
  upTo = Number.POSITIVE_INFINITY,
): Promise<MailingFromLog | null> {
  const decisions = await log.readMailing(ref);
  const past = decisions.filter(({ sequence }) => sequence <= upTo);
  const state = foldMailing(past.map(({ event }) => event));
  if (state.status === "absent") return null;
  // What was erased later appears at no earlier moment either, even while it is still being overwritten.
  const isErased = decisions.some(({ event }) => event.type === "MailingContentErased");
  const [labels, open, back] = await Promise.all([
    isErased ? noLabels : readLabels(contentStore, ref),
    readOpenParts(log, ref, state, upTo),
    readFeedbackOfEnded(log, ref, state, upTo),
  ]);
  const sequence = Math.max(past.at(-1)?.sequence ?? 0, open.sequence, back.sequence);
  return { mailing: toMailingRecord(ref.jobId, state, open.views, back.cells, labels), sequence };
}

/**
 * Everything about a mailing as a whole in the order of the log: what was decided, and who was told of its end. Empty where
 * the log has no such mailing, also for the id of a job.
 */
export async function readMailingHistory(
  log: Pick<EventLog, "readMailing" | "readNotices">,
  mailing: JobRef,
): Promise<readonly StoredEvent<MailingEvent | Notice>[]> {
  const decisions = await log.readMailing(mailing);
  if (decisions.length === 0) return [];
  return [...decisions, ...(await log.readNotices(mailing))].sort(inOrder);
}

type ReadParts = { readonly views: Map<string, JobView>; readonly sequence: number };

/** So many histories are read at a time: mostly two dozen parts are open, and a request has to be answered in time. */
const readAtOnce = 10;

/** Parts are made one after the other: after the first that is no job there are none. */
export async function readOpenParts(
  log: Pick<EventLog, "readHistory">,
  mailing: JobRef,
  { status, parts }: ExistingMailing,
  upTo = Number.POSITIVE_INFINITY,
): Promise<ReadParts> {
  const views = new Map<string, JobView>();
  let last = 0;
  const open = status === "draft" ? [] : parts.filter(({ counts }) => counts === null);
  for (let first = 0; first < open.length; first += readAtOnce) {
    const some = open.slice(first, first + readAtOnce);
    const histories = await Promise.all(some.map(({ jobId }) => log.readHistory({ ...mailing, jobId })));
    for (const [index, { jobId }] of some.entries()) {
      const history = (histories[index] ?? []).filter(({ sequence }) => sequence <= upTo);
      const view = foldJobView(history.map(({ event }) => event));
      if (view === null) return { views, sequence: last };
      views.set(jobId, view);
      last = Math.max(last, history.at(-1)?.sequence ?? 0);
    }
  }
  return { views, sequence: last };
}

/** So many parts are asked about at a time: a mailing has one for each thousand recipients. */
const askedAtOnce = 50;

type ReadFeedback = { readonly cells: Map<string, FeedbackCells>; readonly sequence: number };

/** What came back about the parts whose end the mailing has recorded; the histories of the others tell it. */
export async function readFeedbackOfEnded(
  log: Pick<EventLog, "readFeedback">,
  mailing: JobRef,
  { parts }: ExistingMailing,
  upTo = Number.POSITIVE_INFINITY,
): Promise<ReadFeedback> {
  const cells = new Map<string, FeedbackCells>();
  let last = 0;
  const ended = parts.filter(({ counts }) => counts !== null);
  const readSome = async (): Promise<void> => {
    for (let part = ended.pop(); part !== undefined; part = ended.pop()) {
      const { jobId, recipients } = part;
      for (const { event, sequence } of await log.readFeedback({ ...mailing, jobId })) {
        if (sequence > upTo) break;
        if (!isFeedback(event)) continue;
        cells.set(jobId, recordFeedback(cells.get(jobId) ?? null, event, recipients));
        last = Math.max(last, sequence);
      }
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, readSome));
  return { cells, sequence: last };
}
