import type { ContentRecipient, ContentStore, JobContent } from "../../content/content-store.ts";
import { loadAttachments, loadContent, type NamedContent } from "../../content/stored-content.ts";
import type { JobError } from "../../domain/job/events.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { type Mail, messageIdOf } from "../../mail/mailer.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import { unsubscribeUrl } from "../../suppressions/unsubscribe-links.ts";
import { type Letters, PartFault, readLetters } from "./templates/letters.ts";

/** The content of a mailing, ready to be sent. */
export type Mailing = {
  readonly content: JobContent;
  readonly letters: Letters;
  /** The link that unsubscribes a recipient; null for mails without such links. */
  readonly unsubscribeUrlOf: ((recipient: number, email: string) => string) | null;
};

type Sources = {
  readonly contentStore: ContentStore;
  readonly mailFrom: string;
  readonly suppressions: Pick<SuppressionGuard, "links">;
  readonly publicUrl: string | null;
};

/** Reads the mailing, once for each attempt; returns an error where the job's original content is gone or changed. */
export async function loadMailing(
  named: NamedContent,
  { contentStore, mailFrom, suppressions, publicUrl }: Sources,
): Promise<Mailing | JobError> {
  const content = await loadContent(named, contentStore);
  if ("code" in content) return content;
  const attachments = await loadAttachments(contentStore, named.job, content.attachments);
  if (attachments === null) {
    return { code: "attachments-lost", message: "An attachment is gone, or is not what the job was created with." };
  }
  if (content.unsubscribe && publicUrl === null) {
    return { code: "public-url-missing", message: "The worker has no PUBLIC_URL for the links to unsubscribe by." };
  }
  const unsubscribeUrlOf =
    content.unsubscribe && publicUrl !== null ? await urlsOf(named.job, suppressions, publicUrl) : null;
  try {
    return { content, letters: readLetters(content, mailFrom, attachments), unsubscribeUrlOf };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return { code: "template-failed", message: `The ${failure.part} of the mailing cannot be read as a template.` };
  }
}

async function urlsOf(job: JobRef, suppressions: Sources["suppressions"], publicUrl: string) {
  const links = await suppressions.links();
  return (recipient: number, email: string): string => unsubscribeUrl(publicUrl, links.tokenFor(job, recipient, email));
}

export type Addressee = {
  readonly job: JobRef;
  readonly index: number;
  readonly recipient: ContentRecipient;
  readonly unsubscribeUrl: string | null;
};

/** The mail to one recipient. Throws a PartFault where the variables do not fill in its templates. */
export function mailTo({ letter, personalFor }: Letters, { job, index, recipient, unsubscribeUrl }: Addressee): Mail {
  const messageId = messageIdOf(job.tenant, job.jobId, index, addressOf(letter.from));
  return { letter, to: recipient.email, messageId, personal: personalFor(recipient, unsubscribeUrl), unsubscribeUrl };
}
