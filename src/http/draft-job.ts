import { v7 as newId } from "uuid";
import type { ContentRecipient, JobContent } from "../content/content-store.ts";
import { digestOf, encodeContent } from "../content/encode-content.ts";
import type { JobSettings } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { toInstant } from "../schemas/instant.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { hasTemplate } from "../templates/template.ts";
import { type AttachmentFile, attachmentsOf, toContentAttachments } from "./attachments-of-request.ts";
import { canonicalJson } from "./canonical-json.ts";
import { jobIdOfKey } from "./derived-job-id.ts";
import { splitBody } from "./split-body.ts";

/** A job that nobody has accepted yet. */
export type JobDraft = {
  readonly job: JobRef;
  /** The bytes to store. */
  readonly content: Uint8Array;
  readonly attachments: readonly AttachmentFile[];
  readonly settings: JobSettings;
  /** What the content says. */
  readonly mailing: JobContent;
};

export type Wish = {
  readonly tenant: string;
  /** The idempotency key, if there is one. */
  readonly key: string | null;
  /** The body as it was sent: what a repetition is compared with. */
  readonly body: unknown;
  readonly request: JobRequest;
  readonly maxAttempts: number;
  readonly at: Instant;
};

/** Makes a job of a checked request, content and settings apart. */
export function draftJob({ tenant, key, body, request, maxAttempts, at }: Wish): JobDraft {
  const jobId = key === null ? newId() : jobIdOfKey(tenant, key);
  const recipients = distinct(request.recipients);
  const attachments = attachmentsOf(request);
  const mailing = toContent(request, recipients, attachments);
  const content = encodeContent(mailing);
  const scheduledAt = instantOf(request.scheduledAt);
  const settings: JobSettings = {
    type: request.type ?? "email.send",
    priority: request.priority ?? "normal",
    total: recipients.length,
    duplicates: request.recipients.length - recipients.length,
    contentSha256: digestOf(content),
    requestSha256: key === null ? null : digestOf(canonicalJson(body)),
    scheduledAt: scheduledAt !== null && scheduledAt > at ? scheduledAt : null,
    notAfter: instantOf(request.notAfter),
    maxAttempts: request.maxAttempts ?? maxAttempts,
    retryDelayMs: request.retryDelay ?? null,
    onUnknown: request.onUnknown ?? "resend",
    requeueOf: null,
    groupSha256: request.groupKey === undefined ? null : groupOf(tenant, request.groupKey),
  };
  return { job: { tenant, jobId }, content, attachments, settings, mailing };
}

/** The key may name a person: the log holds its digest only. */
const groupOf = (tenant: string, key: string): string => digestOf(`${tenant}\n${key}`);

const instantOf = (text: string | undefined): Instant | null => (text === undefined ? null : toInstant(text));

/** One mail to one address, however often and in whatever case it was given; the first spelling stands. */
function distinct(recipients: JobRequest["recipients"]): readonly ContentRecipient[] {
  const byAddress = new Map<string, ContentRecipient>();
  for (const recipient of recipients) {
    const email = typeof recipient === "string" ? recipient : recipient.email;
    const key = email.toLowerCase();
    if (!byAddress.has(key)) byAddress.set(key, typeof recipient === "string" ? { email } : recipient);
  }
  return [...byAddress.values()];
}

const toContent = (
  request: JobRequest,
  recipients: readonly ContentRecipient[],
  attachments: readonly AttachmentFile[],
): JobContent => ({
  name: request.name || null,
  metadata: request.metadata ?? {},
  subject: request.subject,
  ...splitBody(request),
  from: request.from ?? null,
  replyTo: request.replyTo ?? null,
  headers: request.headers ?? {},
  recipients,
  ...(request.groupKey === undefined ? {} : { groupKey: request.groupKey }),
  ...(request.webhookUrl === undefined ? {} : { webhookUrl: request.webhookUrl }),
  ...([request.subject, request.body, request.html, request.text].some(hasTemplate) ? { template: "liquid" } : {}),
  ...(attachments.length === 0 ? {} : { attachments: toContentAttachments(attachments) }),
});
