import type { ContentAttachment } from "../../content/content-store.ts";
import { digestOf } from "../../content/encode-content.ts";
import type { RequestedAttachment } from "../../schemas/attachment.ts";

/** An attachment as the content names it, with its bytes, which are stored apart. */
export type AttachmentFile = ContentAttachment & { readonly bytes: Buffer };

export const attachmentsOf = (attachments: readonly RequestedAttachment[]): readonly AttachmentFile[] =>
  attachments.map(({ filename, contentType, contentId = null, content }) => {
    const bytes = Buffer.from(content, "base64");
    return { filename, contentType, contentId, size: bytes.length, sha256: digestOf(bytes), bytes };
  });

export const bytesOfAll = (files: readonly AttachmentFile[]): number =>
  files.reduce((bytes, { size }) => bytes + size, 0);

export const toContentAttachments = (files: readonly AttachmentFile[]): readonly ContentAttachment[] =>
  files.map(({ bytes: _, ...named }) => named);
