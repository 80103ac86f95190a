import type { ContentAttachment, ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent, digestOf } from "../content/encode-content.ts";
import type { JobError } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { Attachment } from "../mail/mailer.ts";
import { type Letters, PartFault, readLetters } from "../templates/letters.ts";
import type { HeldTurn } from "./turn.ts";

/** What is sent and to whom, ready to be sent. */
export type Mailing = { readonly content: JobContent; readonly letters: Letters };

/** Read once for each attempt; an error where what the job was created with is not there any more. */
export async function loadMailing(
  { job, settings }: HeldTurn,
  contentStore: ContentStore,
  mailFrom: string,
): Promise<Mailing | JobError> {
  const bytes = await contentStore.get(job);
  if (bytes === null) return { code: "content-erased", message: "What was to be sent has been erased." };
  if (digestOf(bytes) !== settings.contentSha256) {
    return { code: "content-changed", message: "What was to be sent is not what the job was created with." };
  }
  const content = decodeContent(bytes);
  const attachments = await loadAttachments(contentStore, job, content.attachments ?? []);
  if (attachments === null) {
    return { code: "attachments-lost", message: "An attachment is gone, or is not what the job was created with." };
  }
  try {
    return { content, letters: readLetters(content, mailFrom, attachments) };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return { code: "template-failed", message: `The ${failure.part} of the mailing cannot be read as a template.` };
  }
}

async function loadAttachments(
  { attachments }: ContentStore,
  job: JobRef,
  named: readonly ContentAttachment[],
): Promise<readonly Attachment[] | null> {
  const loaded: Attachment[] = [];
  for (const { sha256, filename, contentType, contentId } of named) {
    const bytes = await attachments.get(job, sha256);
    if (bytes === null || digestOf(bytes) !== sha256) return null;
    loaded.push({ filename, contentType, contentId, bytes });
  }
  return loaded;
}
