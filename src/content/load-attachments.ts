import type { JobRef } from "../event-log/event-log.ts";
import type { ContentAttachment, ContentStore } from "./content-store.ts";
import { digestOf } from "./encode-content.ts";

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
