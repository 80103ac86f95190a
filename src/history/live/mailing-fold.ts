import { type JobLabels, noLabels } from "../../domain/job/job-record.ts";
import { evolveJobView, foldJobView, hasChanged, type JobView } from "../../domain/job/job-view.ts";
import { mailingDecider } from "../../domain/mailing/decider.ts";
import type { MailingEvent } from "../../domain/mailing/events.ts";
import { type MailingRecord, shownStatus } from "../../domain/mailing/mailing-record.ts";
import { toMailingRecord } from "../../domain/mailing/mailing-view.ts";
import type { ExistingMailing } from "../../domain/mailing/state.ts";
import { type FeedbackCells, isFeedback, recordFeedback } from "../../domain/recipients/feedback.ts";
import { isOfMailing, type StoredEvent, type TenantEvent } from "../../event-log/event-log.ts";
import { createChanges, type Progress } from "./changes.ts";

/** The mailing as it was after an event of the log. */
export type MailingMoment = { readonly mailing: MailingRecord; readonly sequence: number };

/** A mailing at one moment, with those of its parts that are jobs and have not ended. They are folded on in place. */
export type KnownMailing = {
  readonly state: ExistingMailing;
  readonly open: Map<string, JobView>;
  /** What came back about the others. */
  readonly cameBack: Map<string, FeedbackCells>;
  readonly labels: JobLabels;
  readonly sequence: number;
};

export type MailingFold = {
  readonly progress: Progress<MailingMoment>;
  /** An event of the mailing, or of one of its parts, after those that are known. */
  add(entry: StoredEvent<TenantEvent>): void;
};

/** `seen` is the last event that the watcher knows: where nothing came after it, there is nothing to begin with. */
export function createMailingFold(id: string, known: KnownMailing, seen: number | null): MailingFold {
  const { open, cameBack } = known;
  let { state, labels, sequence } = known;
  let recorded = recordedIn(state);
  let hasBegun = recorded.size > 0 || [...open.values()].some(({ startedAt }) => startedAt !== null);

  const now = (): MailingMoment => ({ mailing: toMailingRecord(id, state, open, cameBack, labels), sequence });
  const changes = createChanges<MailingMoment>(now);
  changes.begin(seen === sequence ? null : now());
  const status = (): string => shownStatus(state.status, state.undoUntil ?? state.scheduledAt, hasBegun);

  const addDecision = (event: MailingEvent): void => {
    const after = mailingDecider.evolve(state, event);
    if (after.status === "absent") return;
    state = after;
    recorded = recordedIn(state);
    for (const jobId of recorded) {
      const view = open.get(jobId);
      if (view === undefined) continue;
      cameBack.set(jobId, view.feedback);
      open.delete(jobId);
    }
    hasBegun ||= recorded.size > 0;
    if (event.type !== "MailingContentErased") return;
    labels = noLabels;
    // As in the fold of a job.
    changes.rewrite((moment) => ({ ...moment, mailing: { ...moment.mailing, ...noLabels } }));
  };
  /** Of what happens to a part after the mailing has recorded its end, only reports count before the mailing records it again. */
  const addToPart = ({ jobId, event }: StoredEvent): boolean => {
    if (recorded.has(jobId)) {
      if (!isFeedback(event)) return false;
      const { recipients = 0 } = state.parts.find((part) => part.jobId === jobId) ?? {};
      cameBack.set(jobId, recordFeedback(cameBack.get(jobId) ?? null, event, recipients));
      return true;
    }
    const before = open.get(jobId) ?? null;
    const view = before === null ? foldJobView([event]) : evolveJobView(before, event);
    if (view === null) return false;
    open.set(jobId, view);
    hasBegun ||= view.startedAt !== null;
    return hasChanged(before, view, event);
  };

  return {
    progress: changes.progress,
    add: (entry) => {
      const before = status();
      let isSeenNow = true;
      if (isOfMailing(entry)) addDecision(entry.event);
      else isSeenNow = addToPart(entry as StoredEvent);
      // The next watch reads only what is seen, and must not begin before the last event that this one has shown.
      if (isSeenNow) sequence = entry.sequence;
      if (status() !== before) changes.status();
      else if (isSeenNow) changes.other();
    },
  };
}

/** The parts whose end the mailing has recorded. */
const recordedIn = ({ parts }: ExistingMailing): ReadonlySet<string> =>
  new Set(parts.filter(({ counts }) => counts !== null).map(({ jobId }) => jobId));
