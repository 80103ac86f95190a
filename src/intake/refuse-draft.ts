import { kindOf } from "../job-kinds/all-job-kinds.ts";
import { bytesOfAll } from "../job-kinds/email/attachments-of-request.ts";
import { maxAttachmentBytes } from "../schemas/attachment.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import type { JobDraft } from "./draft-job.ts";
import type { Refusal } from "./refusal.ts";

/** What is found wrong with a job only when it is put together: how large it is, and what its kind makes of it. */
export async function refuseDraft(draft: JobDraft, request: JobRequest, maxBytes: number): Promise<Refusal | null> {
  const { content, attachments, settings } = draft;
  if (content.length > maxBytes) {
    return { code: "content-too-large", of: "content", bytes: content.length, maxBytes };
  }
  const attached = bytesOfAll(attachments);
  if (attached > maxAttachmentBytes) {
    return { code: "content-too-large", of: "attachments", bytes: attached, maxBytes: maxAttachmentBytes };
  }
  const faults = (await kindOf(settings.type).checkContent?.(draft.mailing, request)) ?? [];
  return faults.length === 0 ? null : { code: "validation-failed", faults };
}
