import type { JobContent } from "../../content/content-store.ts";
import type { JobSettings } from "../../domain/job/events.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { composeLetter } from "../../mail/compose-letter.ts";
import type { DkimSettings } from "../../mail/dkim.ts";
import { type Attachment, messageIdOf } from "../../mail/mailer.ts";
import { unsubscribeUrl } from "../../suppressions/unsubscribe-links.ts";
import { readLetters } from "../../templates/letters.ts";

/** How the service sends its mails. */
export type MailSettings = {
  readonly mailFrom: string;
  readonly dkim: DkimSettings | null;
  /** Where people outside reach the API; null where mails can have no links to it. */
  readonly publicUrl: string | null;
};

/** A mailing that was asked for and is not made yet. */
export type DraftOfMailing = {
  readonly job: JobRef;
  readonly settings: Pick<JobSettings, "total" | "duplicates">;
  readonly mailing: JobContent;
  readonly attachments: readonly Attachment[];
};

/** The first mail of a mailing as it would be sent now. Nothing is stored and nothing is sent. */
export async function dryRun(
  draft: DraftOfMailing,
  { mailFrom, dkim, publicUrl }: MailSettings,
  at: string,
): Promise<object> {
  const { job, settings, mailing, attachments } = draft;
  const [recipient] = mailing.recipients;
  if (!recipient) throw new Error("A mailing without recipients came past its check.");
  const { letter, personalFor } = readLetters(mailing, mailFrom, attachments);
  // One that unsubscribes nobody: whoever tries it out has mailed nobody yet.
  const link = mailing.unsubscribe && publicUrl !== null ? unsubscribeUrl(publicUrl, "example") : null;
  const personal = personalFor(recipient, link);
  const { from, replyTo, headers } = letter;
  const { subject, html, text } = personal ?? letter;
  const messageId = messageIdOf(job.tenant, job.jobId, 0, addressOf(from));
  const { messageOf } = await composeLetter(letter, dkim);
  const message = await messageOf(
    { letter, to: recipient.email, messageId, personal, unsubscribeUrl: link },
    new Date(at),
  );
  const raw = Buffer.concat(message).toString();
  return {
    dryRun: true,
    recipients: settings.total,
    duplicates: settings.duplicates,
    mail: {
      from,
      to: recipient.email,
      replyTo,
      subject,
      html,
      text,
      headers,
      attachments: mailing.attachments ?? [],
      size: Buffer.byteLength(raw),
      raw,
    },
    warnings: warningsOf(html, text),
  };
}

/** Gmail shows no more of a mail's HTML than this. */
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
