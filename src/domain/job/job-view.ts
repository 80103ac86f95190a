import type { Instant } from "../message.ts";
import type { NotificationEvent } from "../notifications/notification.ts";
import { isOutcome, type RecipientEvent } from "../recipients/events.ts";
import {
  countFeedback,
  type FeedbackCells,
  type FeedbackCounts,
  type ReturnEvent,
  recordFeedback,
} from "../recipients/feedback.ts";
import { beginRunInLedger, countRecipients, emptyLedger, type Ledger, recordInLedger } from "../recipients/ledger.ts";
import type { ResultEvent } from "../result/events.ts";
import type { WebhookEvent } from "../webhooks/events.ts";
import { settingsAfter } from "./erase-content.ts";
import type { JobError, JobEvent, JobSettings, RecipientCounts } from "./events.ts";

export const jobStatuses = [
  "pending",
  "scheduled",
  "queued",
  "processing",
  "retrying",
  "paused",
  "completed",
  "failed",
  "cancelled",
] as const;

export type JobStatus = (typeof jobStatuses)[number];

/** The current state of one job for readers: the fold of all its events, on all its subjects. */
export type JobView = {
  readonly settings: JobSettings;
  readonly status: JobStatus;
  readonly run: number;
  /** The number of attempts of this run that began. */
  readonly attempt: number;
  readonly createdAt: Instant;
  /** When the first attempt of the first run began. */
  readonly startedAt: Instant | null;
  /** When it ended, with whatever result. */
  readonly completedAt: Instant | null;
  readonly nextAttemptAt: Instant | null;
  /** The error of the last failed attempt, until the next one begins. */
  readonly error: JobError | null;
  readonly ledger: Ledger;
  /** What came back about its mails. Folded in place, as the ledger is. */
  readonly feedback: FeedbackCells;
  /** The rows of the file that this run makes, for a kind of job that makes one; else 0. */
  readonly rows: number;
};

export type EventOfJob = JobEvent | RecipientEvent | ReturnEvent | ResultEvent | WebhookEvent | NotificationEvent;

/** The first event of a job. */
export function createJobView(event: Extract<JobEvent, { type: "JobCreated" }>): JobView {
  return {
    settings: event.data,
    status: statusOnceOpen(event.data, event.data.scheduledAt),
    run: 1,
    attempt: 0,
    createdAt: event.at,
    startedAt: null,
    completedAt: null,
    nextAttemptAt: null,
    error: null,
    ledger: emptyLedger(event.data.total),
    feedback: null,
    rows: 0,
  };
}

/**
 * Folds every event after the first. The ledger is folded in place (see there), the rest is a new value. Total: an
 * event that the decider would not have allowed leaves the view unchanged.
 */
export function evolveJobView(view: JobView, event: EventOfJob): JobView {
  switch (event.type) {
    case "JobCreated":
      return view;
    case "JobStarted":
      return {
        ...view,
        status: "processing",
        attempt: event.data.attempt,
        startedAt: view.startedAt ?? event.at,
        nextAttemptAt: null,
        error: null,
      };
    case "JobRetryScheduled":
      return {
        ...view,
        status: "retrying",
        nextAttemptAt: event.data.nextAttemptAt,
        error: event.data.error,
      };
    case "JobPaused":
      return { ...view, status: "paused", nextAttemptAt: null };
    case "JobResumed":
      return {
        ...view,
        status: statusOnceOpen(event.data, event.data.notBefore),
        attempt: event.data.attempt - 1,
        nextAttemptAt: null,
      };
    case "JobRescheduled": {
      const { priority, scheduledAt, isPaused } = event.data;
      const settings = { ...view.settings, priority, scheduledAt };
      return { ...view, settings, status: isPaused ? "paused" : statusOnceOpen(event.data, scheduledAt) };
    }
    case "JobCompleted":
      return { ...ended(view, event.at), status: "completed" };
    case "JobCancelled":
      return { ...ended(view, event.at), status: "cancelled" };
    case "JobFailed":
      return { ...ended(view, event.at), status: "failed", error: event.data.error };
    case "JobRetried":
      beginRunInLedger(view.ledger, event);
      return {
        ...view,
        status: statusOnceOpen(event.data, null),
        run: event.data.run,
        attempt: 0,
        completedAt: null,
        nextAttemptAt: null,
        error: null,
        rows: 0,
      };
    case "ResultStored":
      return event.data.run === view.run ? { ...view, rows: Math.max(view.rows, event.data.rows) } : view;
    case "JobContentErased":
      return { ...view, settings: settingsAfter(view.settings, event.data) };
    // Its attempt continues with the next worker that takes it.
    case "JobReleased":
    case "JobRequeued":
    case "DeadLetterIgnored":
    case "WebhookDelivered":
    case "WebhookFailed":
    case "WebhookRedeliveryRequested":
    case "NotificationRead":
    case "RecipientUnsubscribed":
      return view;
    case "RecipientsClaimed":
    case "RecipientsReleased":
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
    case "RecipientSuppressed":
      recordInLedger(view.ledger, event);
      return view;
    case "RecipientBounced":
    case "RecipientComplained":
      return { ...view, feedback: recordFeedback(view.feedback, event, view.ledger.cells.length) };
  }
}

/**
 * Whether readers see that the event changed the job; a view is null before the job's first event. The ledger is folded in
 * place: readers see the outcomes in it, and no claims.
 */
export const hasChanged = (before: JobView | null, after: JobView | null, event: EventOfJob): boolean =>
  after !== before || isOutcome(event);

/** The history of one job in the order of the log; null if it does not begin with the job's creation. */
export function foldJobView(history: Iterable<EventOfJob>): JobView | null {
  let view: JobView | null = null;
  for (const event of history) {
    if (view === null) {
      if (event.type !== "JobCreated") return null;
      view = createJobView(event);
    } else {
      view = evolveJobView(view, event);
    }
  }
  return view;
}

/** The outcomes of a job's recipients, and how many of those that were sent bounced and complained. */
export type Progress = RecipientCounts & FeedbackCounts;

/** The number of rows is unknown until the last one is written: until then the total is the rows so far. */
export function outcomesOf({ ledger, rows }: Pick<JobView, "ledger" | "rows">): RecipientCounts {
  const counts = countRecipients(ledger);
  return { ...counts, total: counts.total + rows, sent: counts.sent + rows };
}

export const progressOf = (view: Pick<JobView, "ledger" | "rows" | "feedback">): Progress => ({
  ...outcomesOf(view),
  ...countFeedback(view.feedback),
});

/** The status of a job after a decision that opened a turn, until a worker begins it. */
export function statusOnceOpen(
  { groupSha256 }: Pick<JobSettings, "groupSha256">,
  notBefore: Instant | null,
): JobStatus {
  if (notBefore !== null) return "scheduled";
  return groupSha256 === null ? "queued" : "pending";
}

const ended = (view: JobView, at: Instant): JobView => ({ ...view, completedAt: at, nextAttemptAt: null });

/** Whether it erases all of the job's content and recipients. */
export const isWholeErasure = (event: EventOfJob): boolean =>
  event.type === "JobContentErased" && event.data.recipients === null;
