import type { BounceKind } from "../../domain/recipients/feedback.ts";
import { isHardStatus } from "../../domain/recipients/hard-status.ts";
import { type Bounce, toDiagnostic } from "./report.ts";

/** `550 5.1.1`, `550-5.1.1`, `550 #5.1.1`; and a status that stands alone. */
const reply = /(?:^|[^\d.])([45]\d\d)(?:[ -]#?([245]\.\d{1,3}\.\d{1,3}))?(?![\d.])/;
const aloneStatus = /(?:^|[^\d.])#?([45]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** RFC 3463: says no more than the class. Outlook.com says 5.5.0, "other protocol status", of mailboxes. */
const isVague = (status: string | null): boolean => status === null || /^(?:[45]\.0|5\.5)\.0$/.test(status);

const noSuchMailbox =
  /user unknown|unknown user|no such (?:user|mailbox|recipient|person|address)|(?:user|mailbox|recipient|account|address) (?:does not|doesn't) exist|(?:mailbox|recipient|address|user) (?:was )?not found|no mailbox (?:here )?by that name|invalid (?:recipient|mailbox|address)|(?:recipient|address) rejected: (?:user )?unknown|is not a valid (?:mailbox|user)|undeliverable address|(?:email|e-mail) account that you tried to reach does not exist|user (?:does not|doesn't) have an? (?:[a-z0-9.-]{1,60} )?account|unrouteable address|host or domain name not found/i;
const fullOrBusy =
  /mailbox (?:is )?full|over ?quota|quota exceeded|exceeded (?:its|the) (?:storage|quota)|insufficient (?:system )?storage|inbox is full|too many (?:connections|messages)|try again later|temporar|greylist|timed? ?out|could not be delivered for \d+/i;
/**
 * RFC 5321 4.2.3 has these words for a mailbox that does not exist, for one without access, and for a policy. GMX and
 * Outlook.com mean that it does not exist, but Outlook.com has said so of mailboxes that do: one such bounce is not enough.
 */
const unavailable = /mailbox (?:is )?unavailable/i;
const aboutMailOrSender = /\b(?:policy|spf|dkim|dmarc|dns|spam|sender|reputation|block ?list(?:ed)?)\b/i;

/** What is known of a mail that did not arrive. Any of it may be missing. */
export type Known = {
  readonly status: string | null;
  /** The words of the mail server, or of the report. */
  readonly text: string;
};

/**
 * Tells hard from soft by the enhanced status code (RFC 3463, 5248); where there is none that says more than its class, by
 * what the mail server said. A refusal because of the message or the sender says nothing about the address: it is unknown.
 */
export function classify({ status, text }: Known): Bounce {
  const [, code, codeStatus] = reply.exec(text) ?? [];
  const told = codeStatus ?? aloneStatus.exec(text)?.[1] ?? null;
  const statusCode = isVague(status) ? (told ?? status) : status;
  const replyCode = code === undefined ? null : Number(code);
  return {
    kind: "bounce",
    bounce: kindOf(statusCode, replyCode, text),
    statusCode,
    replyCode,
    diagnostic: toDiagnostic(text),
  };
}

/** RFC 3463: the protocol, the message, security; and the address of the sender, also where the mail was put off until it expired. */
const ofMailOrSender = /^(?:5\.[56]\.|[45]\.7\.|[45]\.1\.[78]$)/;
/** Has a status of security, too, and is no judgement of the sender. */
const greylisted = /^4\.7\..*gr[ae]y-?list/i;

/** Whether a status says that the mail or its sender was refused or put off, and nothing of the address. */
export const isOfMailOrSender = (statusCode: string, text: string): boolean =>
  ofMailOrSender.test(statusCode) && !greylisted.test(`${statusCode} ${text}`);

/** Of a status that is more than its class. */
function kindOf(statusCode: string | null, replyCode: number | null, text: string): BounceKind {
  if (statusCode !== null && !isVague(statusCode)) {
    if (isHardStatus(statusCode)) return "hard";
    return isOfMailOrSender(statusCode, text) ? "unknown" : "soft";
  }
  if (fullOrBusy.test(text)) return "soft";
  if (noSuchMailbox.test(text)) return "hard";
  if (unavailable.test(text) && !aboutMailOrSender.test(text)) return "soft";
  const isTemporary = (replyCode ?? 0) >= 400 && (replyCode ?? 0) < 500;
  return isTemporary || statusCode?.startsWith("4") === true ? "soft" : "unknown";
}
