import type { Decision } from "../decider.ts";
import type { RecipientCounts, RetryScope } from "../job/events.ts";
import type { Instant } from "../message.ts";
import type { Reports, StoppedBy, Tried } from "./brakes.ts";
import type { MailingEvent, MailingPart, MailingResult, MailingSettings, MailingTest, PartResult } from "./events.ts";

/** `counts` and `result` are null until its job has ended. */
export type KnownPart = MailingPart & { readonly counts: RecipientCounts | null; readonly result: PartResult | null };

export type KnownTest = MailingTest & { readonly testedAt: Instant };

/** What was asked for, and what was decided about it; the last one of a mailing. */
export type Approval = {
  readonly status: "requested" | "approved" | "rejected";
  /** See digestToApprove. */
  readonly digest: string;
  readonly scheduledAt: Instant | null;
  readonly requestedBy: string;
  readonly requestedAt: Instant;
  readonly decidedBy: string | null;
  readonly decidedAt: Instant | null;
  /** Of a rejection. */
  readonly reason: string | null;
};

export type MailingStatus = "draft" | "awaiting-approval" | "started" | "paused" | MailingResult | "cancelled";

export type ExistingMailing = {
  readonly status: MailingStatus;
  readonly settings: MailingSettings;
  readonly createdAt: Instant;
  /** When it was last made, changed, or decided about as long as it has not started. */
  readonly touchedAt: Instant;
  readonly parts: readonly KnownPart[];
  /** When it was to start; null for at once, and for a draft. */
  readonly scheduledAt: Instant | null;
  readonly startedAt: Instant | null;
  /** Until then its start can be taken back, and none of its parts is made; null where parts may be made. */
  readonly undoUntil: Instant | null;
  /** Its last start was taken back. */
  readonly wasUndone: boolean;
  /** Null where none was asked for, or where its start was taken back since. */
  readonly approval: Approval | null;
  readonly tests: readonly KnownTest[];
  /** How often it was run again after it had ended. */
  readonly retries: number;
  /** The recipients that the last of these is about. */
  readonly retryScope: RetryScope;
  /** The failures because of which it stopped by itself; null where it did not, or was resumed or has ended since. */
  readonly stoppedBy: StoppedBy | null;
  /** What had been tried when it was resumed or run again last: failures before that stop it no more. */
  readonly triedBefore: Tried;
  /** What came back so far, as far as that could stop it; and what had when it was resumed or run again last. */
  readonly reports: Reports & { readonly upTo: number };
  readonly reportsBefore: Reports;
  readonly endedAt: Instant | null;
  /** Its letter is erased, and it is in no list any more. */
  readonly isErased: boolean;
};

export type MailingState =
  /** `isAbandoned`: its letter was stored and is erased; there will never be a mailing with this id. */
  { readonly status: "absent"; readonly isAbandoned: boolean } | ExistingMailing;

export type MailingRejection =
  | {
      readonly code:
        | "mailing-not-found"
        | "idempotency-key-reused"
        | "mailing-is-empty"
        | "approval-needs-keys"
        | "approval-needs-another-key";
    }
  | { readonly code: "approval-digest-differs"; readonly digest: string }
  | {
      readonly code:
        | "mailing-has-started"
        | "mailing-not-started"
        | "mailing-not-paused"
        | "mailing-has-ended"
        | "mailing-awaits-approval"
        | "mailing-has-not-ended"
        | "mailing-has-not-failed"
        | "mailing-not-awaiting-approval";
      readonly currentStatus: MailingStatus;
    }
  | { readonly code: "undo-time-over"; readonly currentStatus: MailingStatus; readonly undoUntil: Instant | null }
  | { readonly code: "too-many-mailing-tests"; readonly maxTests: number }
  | { readonly code: "mailing-is-full"; readonly maxParts: number }
  | { readonly code: "scheduled-too-late"; readonly scheduledAt: Instant; readonly notAfter: Instant };

export type MailingDecision = Decision<MailingEvent, MailingRejection>;

/** It has not started: no part of it is made. */
export const isNotStarted = ({ status }: ExistingMailing): boolean =>
  status === "draft" || status === "awaiting-approval";

export const hasMailingEnded = (state: ExistingMailing): boolean =>
  !isNotStarted(state) && state.status !== "started" && state.status !== "paused";

/** Since when there is nothing to do for it; null for one that was started and has not ended. */
export const restingSince = (state: ExistingMailing): Instant | null =>
  isNotStarted(state) ? state.touchedAt : state.endedAt;

/** Whether the mailing still needs the content of a part whose job was not made yet. */
export const keepsPart = (state: MailingState, jobId: string): boolean =>
  state.status !== "absent" && !hasMailingEnded(state) && state.parts.some((part) => part.jobId === jobId);
