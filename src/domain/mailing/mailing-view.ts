import type { JobLabels } from "../job/job-record.ts";
import { type JobView, outcomesOf } from "../job/job-view.ts";
import { countFeedback, type FeedbackCells } from "../recipients/feedback.ts";
import { addCounts, noCounts } from "./counts.ts";
import { mailingDecider } from "./decider.ts";
import type { MailingEvent } from "./events.ts";
import { type MailingRecord, shownStatus } from "./mailing-record.ts";
import type { ExistingMailing, MailingState } from "./state.ts";

/** A mailing by its own decisions alone: what its parts did since, they do not say. */
export function foldMailing(events: Iterable<MailingEvent>): MailingState {
  let state = mailingDecider.initialState;
  for (const event of events) state = mailingDecider.evolve(state, event);
  return state;
}

/** The parts that are jobs and whose end the mailing has not recorded, by the id of the job. */
export type OpenParts = ReadonlyMap<string, JobView>;

/** What came back about the parts whose end the mailing has recorded, by the id of the job; nothing for the others. */
export type CameBack = ReadonlyMap<string, FeedbackCells>;

/** A mailing for readers. A part without recorded counts that is not among the open ones is no job yet. */
export function toMailingRecord(
  id: string,
  { status, settings, parts, createdAt, scheduledAt, startedAt, undoUntil, endedAt, ...known }: ExistingMailing,
  open: OpenParts,
  cameBack: CameBack,
  { name, subject, metadata }: JobLabels,
): MailingRecord {
  let [outcomes, partsMade, hasBegun] = [noCounts, 0, false];
  let [bounced, complained] = [0, 0];
  for (const { jobId, recipients, counts } of parts) {
    const view = counts === null ? open.get(jobId) : undefined;
    if (counts !== null || view !== undefined) partsMade += 1;
    hasBegun ||= counts !== null || (view?.startedAt ?? null) !== null;
    const unmade = { ...noCounts, total: recipients, pending: recipients };
    outcomes = addCounts(outcomes, counts ?? (view === undefined ? unmade : outcomesOf(view)));
    const back = countFeedback(view?.feedback ?? cameBack.get(jobId) ?? null);
    bounced += back.bounced;
    complained += back.complained;
  }
  return {
    id,
    status: shownStatus(status, undoUntil ?? scheduledAt, hasBegun),
    priority: settings.priority,
    name,
    subject,
    metadata,
    progress: { ...outcomes, bounced, complained },
    parts: parts.length,
    partsMade,
    maxAttempts: settings.maxAttempts,
    notAfter: settings.notAfter,
    createdAt,
    scheduledAt,
    startedAt,
    undoUntil,
    approval: known.approval,
    tests: known.tests,
    brakes: settings.brakes,
    stoppedBy: known.stoppedBy,
    completedAt: endedAt,
  };
}
