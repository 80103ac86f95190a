import type { RetryScope } from "../job/events.ts";
import type { Instant } from "../message.ts";
import type { EndedPart, MailingPart, MailingSettings, MailingTest } from "./events.ts";

type Command<Type extends string, Data = unknown> = { readonly type: Type; readonly at: Instant } & Data;

type Reason = { readonly reason: string | null };

export type ApprovalTerms = {
  /** The actor that asks. */
  readonly by: string;
  /** A mailing with more recipients than this needs an approval; null for no limit. */
  readonly above: number | null;
  /** Of a text, as lower-case hex. */
  readonly sha256: (text: string) => string;
};

/** A hard bounce or a complaint about a mail of the mailing, by its place in the log. */
export type FoundReport = { readonly sequence: number; readonly isComplaint: boolean };

export type MailingCommand =
  | Command<"CreateMailing", { readonly settings: MailingSettings }>
  /** Their content is stored. */
  | Command<"AddParts", { readonly parts: readonly MailingPart[] }>
  /** Content was stored for a part of this mailing, perhaps in vain. */
  | Command<"AbandonPart", { readonly jobId: string }>
  /** Without the terms of an approval there is no limit, and the caller is someone who cannot be told from others. */
  | Command<"StartMailing", { readonly scheduledAt: Instant | null; readonly terms?: ApprovalTerms }>
  | Command<"TestMailing", MailingTest>
  | Command<"ApproveMailing", { readonly by: string; readonly digest: string }>
  | Command<"RejectMailing", { readonly by: string; readonly reason: string }>
  | Command<"UndoMailing", Reason>
  /** Parts of it are about to be made. */
  | Command<"ReleaseMailing">
  | Command<"PauseMailing", Reason>
  | Command<"ResumeMailing", Reason>
  | Command<"CancelMailing", Reason>
  /** It is to be forgotten if there was nothing to do for it since before this time. */
  | Command<"RetireMailing", { readonly restingBefore: Instant } & Reason>
  /** The ends of parts that were found when the mailing had been run again so often. */
  | Command<"EndParts", { readonly parts: readonly EndedPart[]; readonly retries: number }>
  /** Each of these counts once. `sent` is how many mails of it may have been sent by now. */
  | Command<"CountReports", { readonly reports: readonly FoundReport[]; readonly sent: number }>
  | Command<"RetryMailing", Reason & { readonly scope: RetryScope }>
  /** A letter was stored for a mailing that no request has created: none may create it any more. */
  | Command<"AbandonMailing", Reason>;

export type CommandOf<Type extends MailingCommand["type"]> = Extract<MailingCommand, { type: Type }>;
