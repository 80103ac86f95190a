import type { DeliveryError } from "../recipients/events.ts";

const replies: readonly number[] = [421, 432, 450, 451, 452, 454];
const policy = /^4\.7\./;
/** RFC 3463: the status of an address, and of a mailbox. */
const ofOneRecipient = /^4\.[12]\./;
/** A greylisting server wants to see each recipient once more after some minutes, however slowly mails come (RFC 6647). */
const greylisting = /gr[ae]y-?\s?list/i;

/**
 * Whether a mail server that deferred a mail asks for fewer mails. One that has something against this recipient alone
 * does not: its mailbox is full, its address is unknown for now, or it is greylisted.
 */
export function asksForPatience({ replyCode, statusCode, message }: DeliveryError): boolean {
  if (greylisting.test(message)) return false;
  if (statusCode !== null && ofOneRecipient.test(statusCode)) return false;
  // One that refuses for good, and all the same is to be asked again: the account has used up its quota.
  return (
    (replyCode !== null && (replies.includes(replyCode) || replyCode >= 500)) ||
    (statusCode !== null && policy.test(statusCode))
  );
}
