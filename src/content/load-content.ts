import type { JobRef } from "../event-log/event-log.ts";
import type { ContentAttachment, ContentStore, JobContent } from "./content-store.ts";
import { decodeContent, digestOf } from "./encode-content.ts";

type NamedContent = { readonly job: JobRef; readonly settings: { readonly contentSha256: string } };

/** The content that a job was created with; an error of the job where it is erased, or is not what it was. */
export async function loadContent(
  { job, settings }: NamedContent,
  contentStore: Pick<ContentStore, "get">,
): Promise<JobContent | { readonly code: string; readonly message: string }> {
  const bytes = await contentStore.get(job);
  if (bytes === null) return { code: "content-erased", message: "What was to be sent has been erased." };
  if (digestOf(bytes) !== settings.contentSha256) {
    return { code: "content-changed", message: "What was to be sent is not what the job was created with." };
  }
  return decodeContent(bytes);
}

export type LoadedAttachment = Pick<ContentAttachment, "filename" | "contentType" | "contentId"> & {
  readonly bytes: Buffer;
};

/** The attachments that a content names; null where one is gone, or is not what it was. */
export async function loadAttachments(
  { attachments }: Pick<ContentStore, "attachments">,
  job: JobRef,
  named: readonly ContentAttachment[] = [],
): Promise<readonly LoadedAttachment[] | null> {
  const loaded: LoadedAttachment[] = [];
  for (const { sha256, filename, contentType, contentId } of named) {
    const bytes = await attachments.get(job, sha256);
    if (bytes === null || digestOf(bytes) !== sha256) return null;
    loaded.push({ filename, contentType, contentId, bytes });
  }
  return loaded;
}
