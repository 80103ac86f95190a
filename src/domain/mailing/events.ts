import type { JobSettings, RecipientCounts, RetryScope } from "../job/events.ts";
import type { Instant, Message } from "../message.ts";
import type { Brakes, Reports, StoppedBy } from "./brakes.ts";

/** What the log keeps of the request for a mailing: the settings of each of its parts. The letter is content. */
export type MailingSettings = Pick<
  JobSettings,
  | "type"
  | "priority"
  | "contentSha256"
  | "requestSha256"
  | "notAfter"
  | "maxAttempts"
  | "retryDelayMs"
  | "deferForMs"
  | "onUnknown"
  | "groupSha256"
  | "template"
  | "route"
> & {
  /** For how long its start can be taken back; 0 for not at all. */
  readonly undoForMs: number;
  /** Whether its start needs the approval of another person, whatever the limits of the service and the tenant are. */
  readonly needsApproval: boolean;
  /** Null for a mailing that goes out as fast as it can. */
  readonly brakes: Brakes | null;
};

/** Recipients whose letter and addresses are stored as the content of a job that is made of them once it is needed. */
export type MailingPart = {
  readonly jobId: string;
  readonly recipients: number;
  /** SHA-256 (hex) of the stored bytes. */
  readonly contentSha256: string;
};

export type MailingTest = { readonly jobId: string; readonly recipients: number };

/** `part` counts from 0, in the order in which the parts were added. The counts are those at the end of its job. */
export type EndedPart = { readonly part: number; readonly result: PartResult; readonly counts: RecipientCounts };

/** How the job of a part ended. */
export type PartResult = "completed" | "failed" | "cancelled";

/** How a mailing ended that was not cancelled: see resultOf. */
export type MailingResult = "completed" | "completed-with-failures" | "failed";

export type MailingEvent =
  | Message<"MailingCreated", MailingSettings>
  /** `first` is the number of the first of these parts. From here on their recipients belong to the mailing. */
  | Message<"MailingPartsAdded", { readonly first: number; readonly parts: readonly MailingPart[] }>
  /** The content of a part that was never added may be erased: an import that is still about to add it has to do it anew. */
  | Message<"MailingPartAbandoned", { readonly jobId: string }>
  /**
   * No recipients are added from here on. A null `scheduledAt` is at once. Before `undoUntil` no part is made, and the start
   * can be taken back; null for a start that cannot, whose parts are made at once.
   */
  | Message<
      "MailingStarted",
      {
        readonly parts: number;
        readonly recipients: number;
        readonly scheduledAt: Instant | null;
        readonly undoUntil: Instant | null;
      }
    >
  /** Its letter is sent to some addresses, by a job of its own that is no part of it. */
  | Message<"MailingTested", MailingTest>
  /**
   * Someone has asked to start it, and someone else is to decide. The digest stands for all that is to be approved: see
   * digestToApprove. The rules compare the actors, so they are in the data, too.
   */
  | Message<
      "MailingApprovalRequested",
      {
        readonly digest: string;
        readonly parts: number;
        readonly recipients: number;
        readonly scheduledAt: Instant | null;
        readonly requestedBy: string;
      }
    >
  /** Stored together with the start. */
  | Message<"MailingApproved", { readonly digest: string; readonly approvedBy: string }>
  /** It is a draft again. */
  | Message<"MailingRejected", { readonly digest: string; readonly rejectedBy: string; readonly reason: string }>
  /** Its start was taken back before any part was made: it is a draft again. */
  | Message<"MailingUndone", { readonly reason: string | null }>
  /** The time to take it back is over: only after this event are parts made of a mailing that could be taken back. */
  | Message<"MailingReleased", { readonly parts: number }>
  /** `stoppedBy`: it stopped by itself, because of these failures. */
  | Message<"MailingPaused", { readonly reason: string | null; readonly stoppedBy?: StoppedBy }>
  | Message<"MailingResumed", { readonly reason: string | null }>
  | Message<"MailingCancelled", { readonly reason: string | null }>
  /** Of a part that is named again, because it was run again, the last counts stand. */
  | Message<"MailingPartsEnded", { readonly parts: readonly EndedPart[] }>
  /** All hard bounces and complaints so far, up to an entry of the log. Counted only where they could stop the mailing. */
  | Message<"MailingReportsCounted", Reports & { readonly upTo: number }>
  | Message<"MailingCompleted", { readonly result: MailingResult; readonly counts: RecipientCounts }>
  /** It had ended, and is open again: these parts, whose jobs did not reach all, are run again, and it ends with what they come to. */
  | Message<
      "MailingRetried",
      { readonly parts: readonly number[]; readonly scope: RetryScope; readonly reason: string | null }
    >
  /** The letter is erased, and the mailing is in no list any more; or it was stored for a mailing that was never created. */
  | Message<"MailingContentErased", { readonly reason: string | null }>;

const types: Readonly<Record<MailingEvent["type"], true>> = {
  MailingCreated: true,
  MailingPartsAdded: true,
  MailingPartAbandoned: true,
  MailingReportsCounted: true,
  MailingStarted: true,
  MailingTested: true,
  MailingApprovalRequested: true,
  MailingApproved: true,
  MailingRejected: true,
  MailingUndone: true,
  MailingReleased: true,
  MailingPaused: true,
  MailingResumed: true,
  MailingCancelled: true,
  MailingPartsEnded: true,
  MailingCompleted: true,
  MailingRetried: true,
  MailingContentErased: true,
};

export const isMailingEvent = <Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: MailingEvent["type"] }> => Object.hasOwn(types, event.type);
