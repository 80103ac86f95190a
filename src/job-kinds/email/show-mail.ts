import type { ContentRecipient, JobContent } from "../../content/content-store.ts";
import { loadAttachments } from "../../content/stored-content.ts";
import { mailboxOf } from "../../domain/recipients/address.ts";
import { createComposer } from "../../mail/compose-letter.ts";
import type { DkimSettings } from "../../mail/dkim.ts";
import { fromMailData } from "../../mail/mail-data.ts";
import type { ReturnPaths } from "../../mail/return-path.ts";
import { unsubscribeUrl } from "../../suppressions/unsubscribe-links.ts";
import type { Draft, SentTo, ShownMessage, ShowPorts } from "../job-kind.ts";
import { type Addressee, mailTo, withComplaints } from "./mailing.ts";
import { PartFault, readLetters } from "./templates/letters.ts";

/** The first mail of a mailing as it would be sent now. Nothing is stored and nothing is sent. */
export async function showFirstMail(
  { job, settings, decoded: content, attachments }: Draft,
  { mail: { mailFrom, dkim, publicUrl, returnPaths } }: Pick<ShowPorts, "mail">,
  at: string,
): Promise<object> {
  const [recipient] = content.recipients;
  if (!recipient) throw new Error("A mailing without recipients passed the check of requests.");
  const letters = withComplaints(readLetters(content, mailFrom, attachments), returnPaths);
  // The link unsubscribes no address: the author who tries out the mailing has mailed no one yet.
  const link = content.unsubscribe && publicUrl !== null ? unsubscribeUrl(publicUrl, "example") : null;
  const { bytes, parts } = await compose(
    letters,
    { job, index: 0, recipient, unsubscribeUrl: link },
    { dkim, returnPaths },
    at,
  );
  const { from, replyTo, headers } = letters.letter;
  const { subject, html, text } = parts;
  const raw = bytes.toString();
  return {
    dryRun: true,
    recipients: settings.total,
    duplicates: settings.duplicates,
    mail: {
      from,
      to: mailboxOf(recipient),
      replyTo,
      subject,
      html,
      text,
      headers,
      attachments: content.attachments ?? [],
      size: Buffer.byteLength(raw),
      raw,
    },
    warnings: warningsOf(html, text),
  };
}

/** Gmail cuts off the HTML of a mail after this. */
const shownByGmail = 102 * 1024;

function warningsOf(html: string | null, text: string | null) {
  const warnings: { readonly code: string; readonly message: string }[] = [];
  if (html !== null && Buffer.byteLength(html) > shownByGmail) {
    warnings.push({ code: "long-html", message: "The HTML is longer than 102 kB: Gmail cuts off the rest." });
  }
  if (html !== null && text === null) {
    warnings.push({ code: "no-text-part", message: "The HTML is too long for a text part to be made of it." });
  }
  return warnings;
}

/**
 * The mail to one recipient, made again from what is stored. It is not signed, and its link to unsubscribe unsubscribes
 * no address: the reader of this mail is not its recipient.
 */
export async function showMail(
  { job, content, index, recipient }: SentTo,
  { contentStore, mail: { mailFrom, publicUrl, returnPaths } }: ShowPorts,
  at: string,
): Promise<ShownMessage | string> {
  const attachments = await loadAttachments(contentStore, job, content.attachments);
  if (attachments === null) return "An attachment of this mail no longer exists.";
  const link = content.unsubscribe ? unsubscribeUrl(publicUrl ?? "https://example.invalid", "example") : null;
  try {
    const letters = withComplaints(readLetters(content, mailFrom, attachments), returnPaths);
    const { bytes } = await compose(
      letters,
      { job, index, recipient, unsubscribeUrl: link },
      { dkim: null, returnPaths },
      at,
    );
    return { mediaType: "message/rfc822", bytes };
  } catch (failure) {
    if (failure instanceof PartFault)
      return `The ${failure.part} cannot be filled in for this recipient: no mail was sent.`;
    throw failure;
  }
}

async function compose(
  letters: ReturnType<typeof readLetters>,
  addressee: Addressee,
  { dkim, returnPaths }: { readonly dkim: DkimSettings | null; readonly returnPaths: ReturnPaths | null },
  at: string,
) {
  const mail = mailTo(letters, addressee, returnPaths?.of(addressee.job) ?? null);
  const { messageOf } = await createComposer(dkim)(letters.letter);
  const data = Buffer.concat(await messageOf(mail, new Date(at))).toString("latin1");
  return { bytes: Buffer.from(fromMailData(data), "latin1"), parts: mail.personal ?? letters.letter };
}

/** The words of the mail to one recipient; null where its template cannot be filled in: such a mail was not sent. */
export function wordsOfMail(content: JobContent, recipient: ContentRecipient) {
  try {
    const { letter, personalFor } = readLetters(content, "");
    const { subject, html, text } = personalFor(recipient) ?? letter;
    return { subject, html, text };
  } catch {
    return null;
  }
}

/** The subject alone, whose template is filled in without the others; null as for the words. */
export const subjectOfMail = (content: JobContent, recipient: ContentRecipient): string | null =>
  wordsOfMail({ ...content, html: null, text: "" }, recipient)?.subject ?? null;
