import type { ContentRecipient } from "../../content/content-store.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { SendOutcome } from "../../domain/recipients/events.ts";
import { type Mail, messageIdOf } from "../../mail/mailer.ts";
import type { PartFault } from "../../templates/letters.ts";
import type { HeldTurn } from "../../workers/turn.ts";
import type { Mailing } from "./load-mailing.ts";

/** The mail to one recipient. Throws a PartFault where the variables do not fill in its templates. */
export function composeMail({ job }: HeldTurn, mailing: Mailing, recipient: number): Mail {
  const one = recipientIn(mailing, recipient);
  const { letter, personalFor } = mailing.letters;
  const unsubscribeUrl = mailing.unsubscribeUrlOf?.(recipient, one.email) ?? null;
  const messageId = messageIdOf(job.tenant, job.jobId, recipient, addressOf(letter.from));
  return { letter, to: one.email, messageId, personal: personalFor(one, unsubscribeUrl), unsubscribeUrl };
}

function recipientIn({ content }: Mailing, recipient: number): ContentRecipient {
  const one = content.recipients[recipient];
  if (!one) throw new Error(`The content of the job has no recipient ${recipient}`);
  return one;
}

/** Tried again it would fail again. Liquid's own words could quote what stands in the variables. */
export function templateFailed({ part, fault }: PartFault): SendOutcome {
  const where = fault.place === null ? "" : ` at line ${fault.place.line}, column ${fault.place.column}`;
  const message = `The variables of this recipient cannot fill in the ${part}${where}.`;
  return { kind: "failed", error: { code: "template-failed", message, replyCode: null, statusCode: null } };
}
