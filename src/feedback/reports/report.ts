import type { BounceKind, ReportSource } from "../../domain/recipients/feedback.ts";

/** A mail that did not arrive. */
export type Bounce = {
  readonly kind: "bounce";
  readonly bounce: BounceKind;
  readonly statusCode: string | null;
  readonly replyCode: number | null;
  /** As the report has it: it may hold addresses, which are masked before it is recorded. */
  readonly diagnostic: string;
};

/** A mail that its recipient calls unwanted; `complaint` is the feedback type of RFC 5965. */
export type Complaint = { readonly kind: "complaint"; readonly complaint: string };

/** What a report says about one mail. */
export type Report = {
  readonly source: ReportSource;
  readonly feedback: Bounce | Complaint;
  /** Texts of the report in which the token of the mail may stand: return paths, Message-IDs. The first that names a mail counts. */
  readonly names: readonly string[];
};

/** Why a message is no report: nothing follows from it. */
export type NoReport = "delivered" | "delayed" | "auto-reply" | "not-a-report";

/** What was read in a message or a notification. */
export type Reading =
  | { readonly kind: "report"; readonly report: Report }
  | { readonly kind: "nothing"; readonly why: NoReport };

export const nothing = (why: NoReport): Reading => ({ kind: "nothing", why });

/** The feedback type of a complaint, from what the report says; `other` for what is no such word. */
export const toFeedbackType = (type: string): string => (/^[a-z0-9-]{1,32}$/.test(type) ? type : "other");

/** An enhanced status code (RFC 3463), from what a notification says; null for anything else. */
export const toStatusCode = (text: string | undefined): string | null =>
  /^\s*([245]\.\d{1,3}\.\d{1,3})\s*$/.exec(text ?? "")?.[1] ?? null;

const longestDiagnostic = 500;

/** One line, of which no more is kept than a person reads. */
export const toDiagnostic = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, longestDiagnostic);
