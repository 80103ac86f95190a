import { hash } from "node:crypto";
import { domainToASCII } from "node:url";
import type { SendOutcome } from "../domain/recipients/events.ts";

export type Attachment = {
  readonly filename: string;
  readonly contentType: string;
  /** The id by which the HTML refers to it (`cid:…`); null for an ordinary attachment. */
  readonly contentId: string | null;
  readonly bytes: Buffer;
};

/** What all mails of a mailing have in common. They share one object, so that a mailer composes it only once. */
export type Letter = {
  readonly from: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments?: readonly Attachment[];
  /** Each mail has its own link with which the recipient unsubscribes in one click (RFC 8058). */
  readonly isUnsubscribable?: boolean;
  /** The header in which each mail has its token once more: see token-header.ts. */
  readonly tokenHeader?: string | null;
};

/** The parts of one recipient's mail that replace those of the letter. */
export type PersonalParts = Pick<Letter, "subject" | "html" | "text">;

/** A letter to one recipient. */
export type Mail = {
  readonly letter: Letter;
  readonly to: string;
  /** The name beside the address in To, and nowhere else. */
  readonly name?: string | null;
  /** The same on every attempt, with its angle brackets. */
  readonly messageId: string;
  readonly personal?: PersonalParts | null;
  /** The sender of the envelope, to which a mail server reports that the mail did not arrive; that of the letter if absent. */
  readonly returnPath?: string | null;
  /** Required if the letter has such links. */
  readonly unsubscribeUrl?: string | null;
  /**
   * Whether the mail may still be sent. Asked once a connection is there, before anything is said of the mail: to open one
   * can take seconds, and for others a mail may wait; and again before its end, if that is more than a second later. A mail
   * that may not is not sent, and `send` throws MailWithdrawn.
   */
  readonly mayStill?: () => Promise<boolean>;
};

/** The mail is certainly not sent. `cause` is there where nobody could say whether it may be. */
export class MailWithdrawn extends Error {
  override readonly name = "MailWithdrawn";
}

export type ProbeOutcome = { readonly kind: "ready" } | Extract<SendOutcome, { kind: "unavailable" }>;

/**
 * Hands mails to the next mail server over at most `connections` connections. Never throws because of what a server does,
 * and nothing but MailWithdrawn.
 */
export interface Mailer {
  readonly connections: number;
  send(mail: Mail): Promise<SendOutcome>;
  /** Whether the mail server would accept mails now: connects and signs in, but sends nothing. */
  probe(): Promise<ProbeOutcome>;
  close(): Promise<void>;
}

/**
 * The Message-ID of the mail to one recipient of a job. It is the same on every attempt, so that a second copy after a
 * crash can be recognised. `sender` is the address in From.
 */
export function messageIdOf(tenant: string, jobId: string, recipient: number, sender: string): string {
  const digest = hash("sha256", `${tenant}|${jobId}|${recipient}`);
  return `<${digest.slice(0, 32)}@${idDomainOf(sender)}>`;
}

const isAscii = /^[\x21-\x7e]*$/;

/** The right-hand side of the Message-IDs of a sender: the domain of the address, in ASCII. */
export function idDomainOf(sender: string): string {
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  return isAscii.test(domain) ? domain : domainToASCII(domain);
}
