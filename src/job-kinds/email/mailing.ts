import type { ContentRecipient, ContentStore, JobContent } from "../../content/content-store.ts";
import { loadAttachments, loadContent, type NamedContent } from "../../content/stored-content.ts";
import type { JobError } from "../../domain/job/events.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { idDomainOf, type Mail, messageIdOf } from "../../mail/mailer.ts";
import type { ReturnPathOf, ReturnPaths } from "../../mail/return-path.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import { unsubscribeUrl } from "../../suppressions/unsubscribe-links.ts";
import { type Letters, PartFault, readLetters } from "./templates/letters.ts";

/** The content of a mailing, ready to be sent. */
export type Mailing = {
  readonly content: JobContent;
  readonly letters: Letters;
  /** The link that unsubscribes a recipient; null for mails without such links. */
  readonly unsubscribeUrlOf: ((recipient: number, email: string) => string) | null;
  /** Null where all mails have the sender of their letter as return path. */
  readonly returnPathOf: ReturnPathOf | null;
};

type Sources = {
  readonly contentStore: ContentStore;
  readonly mailFrom: string;
  readonly suppressions: Pick<SuppressionGuard, "links">;
  readonly publicUrl: string | null;
  readonly returnPaths: ReturnPaths | null;
};

/** Reads the mailing, once for each attempt; returns an error where the job's original content is gone or changed. */
export async function loadMailing(
  named: NamedContent,
  { contentStore, mailFrom, suppressions, publicUrl, returnPaths }: Sources,
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
    const letters = withComplaints(readLetters(content, mailFrom, attachments), returnPaths);
    return { content, letters, unsubscribeUrlOf, returnPathOf: returnPaths?.of(named.job) ?? null };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return { code: "template-failed", message: `The ${failure.part} of the mailing cannot be read as a template.` };
  }
}

const complaintHeader = "CFBL-Address";

/** Names the address for complaints about mails of this sender (RFC 9477), where there is one and the request names none. */
export function withComplaints({ letter, personalFor }: Letters, returnPaths: ReturnPaths | null): Letters {
  const address = returnPaths?.complaintsOf(addressOf(letter.from)) ?? null;
  const isNamed = Object.keys(letter.headers).some((name) => name.toLowerCase() === complaintHeader.toLowerCase());
  if (address === null || isNamed) return { letter, personalFor };
  const headers = { ...letter.headers, [complaintHeader]: `${address}; report=arf` };
  return { letter: { ...letter, headers }, personalFor };
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

/**
 * The mail to one recipient. Its Message-ID is the same on every attempt, and names the mail where it has a return path of
 * its own. Throws a PartFault where the variables do not fill in its templates.
 */
export function mailTo(
  { letter, personalFor }: Letters,
  { job, index, recipient, unsubscribeUrl }: Addressee,
  returnPathOf: ReturnPathOf | null,
): Mail {
  const sender = addressOf(letter.from);
  const path = returnPathOf?.(index) ?? null;
  const messageId =
    path === null ? messageIdOf(job.tenant, job.jobId, index, sender) : `<${path.token}@${idDomainOf(sender)}>`;
  return {
    letter,
    to: recipient.email,
    name: recipient.name ?? null,
    messageId,
    returnPath: path?.address ?? null,
    personal: personalFor(recipient, unsubscribeUrl),
    unsubscribeUrl,
  };
}
