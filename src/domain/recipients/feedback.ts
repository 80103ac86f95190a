import type { Message } from "../message.ts";

/** `unknown`: the report does not tell whether a later mail would arrive. */
export const bounceKinds = ["hard", "soft", "unknown"] as const;

/** `hard`: the address accepts no mail, and will not. `soft`: it may accept another one. */
export type BounceKind = (typeof bounceKinds)[number];

export const reportSources = ["dsn", "arf", "ses", "postmark", "sendgrid"] as const;

/** The kind of report: a mail of RFC 3464 or RFC 5965, or the notification of a provider. */
export type ReportSource = (typeof reportSources)[number];

/** A report about the mail to one recipient. The log holds no address: those in the report are masked. */
type OfReport = {
  readonly recipient: number;
  readonly source: ReportSource;
  /** SHA-256 (hex) of the report as it was received, for those who keep it. */
  readonly reportSha256: string;
};

/**
 * What came back about mails that a mail server had accepted. It changes no outcome: the mail was sent. Of a recipient there
 * is at most one complaint, and one bounce, or a hard one after another.
 */
export type FeedbackEvent =
  | Message<
      "RecipientBounced",
      OfReport & {
        readonly bounce: BounceKind;
        /** The enhanced status code of RFC 3463, `5.1.1`, and the reply code, `550`, if the report has them. */
        readonly statusCode: string | null;
        readonly replyCode: number | null;
        /** The words of the mail server that refused it, masked; empty if the report has none. */
        readonly diagnostic: string;
      }
    >
  | Message<
      "RecipientComplained",
      OfReport & {
        /** The feedback type of RFC 5965 7.3: `abuse`, `fraud`, `virus`, `other`. */
        readonly complaint: string;
      }
    >;

/** The recipient asked for no more mails, by the link in this one. Of a recipient there is at most one. */
export type RecipientUnsubscribed = Message<"RecipientUnsubscribed", { readonly recipient: number }>;

/** What a mail caused after it was sent. */
export type ReturnEvent = FeedbackEvent | RecipientUnsubscribed;

/** Whether the report tells something that the earlier ones of its job do not. */
export function isNews(event: FeedbackEvent, earlier: readonly ReturnEvent[]): boolean {
  const same = earlier.filter(({ type, data }) => type === event.type && data.recipient === event.data.recipient);
  if (event.type === "RecipientComplained" || event.data.bounce !== "hard") return same.length === 0;
  return !same.some((other) => other.type === "RecipientBounced" && other.data.bounce === "hard");
}

/** What is known of a recipient by such reports, as bits of one byte. The values are stored: never change one. */
export const feedbackBit = { bounced: 1, complained: 2, bouncedHard: 4 } as const;

/** One byte for each recipient of a job; null while nothing came back. */
export type FeedbackCells = Uint8Array | null;

/** The cells after an event; they are changed in place once they are there. */
export function recordFeedback(cells: FeedbackCells, { type, data }: FeedbackEvent, total: number): FeedbackCells {
  if (data.recipient >= total) return cells;
  const changed = cells ?? new Uint8Array(total);
  const before = changed[data.recipient] ?? 0;
  changed[data.recipient] = before | bitsOf({ type, data } as FeedbackEvent);
  return changed;
}

function bitsOf(event: FeedbackEvent): number {
  if (event.type === "RecipientComplained") return feedbackBit.complained;
  return event.data.bounce === "hard" ? feedbackBit.bounced | feedbackBit.bouncedHard : feedbackBit.bounced;
}

/** How many recipients of those that were mailed bounced and complained. */
export type FeedbackCounts = { readonly bounced: number; readonly complained: number };

export const noFeedback: FeedbackCounts = { bounced: 0, complained: 0 };

export function countFeedback(cells: FeedbackCells): FeedbackCounts {
  if (cells === null) return noFeedback;
  let [bounced, complained] = [0, 0];
  for (const value of cells) {
    if (value & feedbackBit.bounced) bounced += 1;
    if (value & feedbackBit.complained) complained += 1;
  }
  return { bounced, complained };
}

export const isFeedback = (event: { readonly type: string }): event is FeedbackEvent =>
  event.type === "RecipientBounced" || event.type === "RecipientComplained";

const returns: Readonly<Record<ReturnEvent["type"], true>> = {
  RecipientBounced: true,
  RecipientComplained: true,
  RecipientUnsubscribed: true,
};

export const isReturn = (event: { readonly type: string }): event is ReturnEvent => Object.hasOwn(returns, event.type);
