import { hash } from "node:crypto";
import type { SendOutcome } from "../domain/recipients/events.ts";

export type Attachment = {
  readonly filename: string;
  readonly contentType: string;
  /** By which the HTML shows it (`cid:…`); null for one that stands beside the text. */
  readonly contentId: string | null;
  readonly bytes: Buffer;
};

/** What all mails of a mailing have in common. They share one object, by which a mailer knows that it has composed it. */
export type Letter = {
  readonly from: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments?: readonly Attachment[];
  /** Each mail has a link of its own by which its recipient unsubscribes with one click (RFC 8058). */
  readonly isUnsubscribable?: boolean;
};

/** What stands in one recipient's mail instead of that of the letter. */
export type PersonalParts = Pick<Letter, "subject" | "html" | "text">;

/** A letter to one recipient. */
export type Mail = {
  readonly letter: Letter;
  readonly to: string;
  /** The same on every attempt, with its angle brackets. */
  readonly messageId: string;
  readonly personal?: PersonalParts | null;
  /** Of a letter that has such links. */
  readonly unsubscribeUrl?: string | null;
};

export type ProbeOutcome = { readonly kind: "ready" } | Extract<SendOutcome, { kind: "unavailable" }>;

/** Hands mails to the next mail server, over at most `connections` connections. Never throws for what a server does. */
export interface Mailer {
  readonly connections: number;
  send(mail: Mail): Promise<SendOutcome>;
  /** Whether the mail server would take mails now: connects and signs in, and sends nothing. */
  probe(): Promise<ProbeOutcome>;
  close(): Promise<void>;
}

/**
 * The Message-ID of the mail to one recipient of a job: the same on every attempt, so that whoever receives a second
 * copy after a crash can tell that it is one. `sender` is the address in From; its domain is the right-hand side.
 */
export function messageIdOf(tenant: string, jobId: string, recipient: number, sender: string): string {
  const digest = hash("sha256", `${tenant}|${jobId}|${recipient}`);
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  return `<${digest.slice(0, 32)}@${domain}>`;
}
