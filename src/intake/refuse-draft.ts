import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import type { JobDraft } from "./draft-job.ts";
import type { Refusal } from "./refusal.ts";

/** Of all attachments of a job together. */
const maxAttachmentBytes = 5 * 1024 * 1024;

/** What is found wrong with a job only when it is put together: how large it is, and what its kind makes of it. */
export async function refuseDraft(draft: JobDraft, request: JobRequest, maxBytes: number): Promise<Refusal | null> {
  const { content, attachments, settings } = draft;
  if (content.length > maxBytes) {
    return { code: "content-too-large", of: "content", bytes: content.length, maxBytes };
  }
  const attached = attachments.reduce((bytes, { size }) => bytes + size, 0);
  if (attached > maxAttachmentBytes) {
    return { code: "content-too-large", of: "attachments", bytes: attached, maxBytes: maxAttachmentBytes };
  }
  const faults = (await kindOf(settings.type).checkContent?.(draft.decoded, request)) ?? [];
  return faults.length === 0 ? null : { code: "validation-failed", faults };
}
