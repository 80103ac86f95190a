import type { AttachmentFile, ContentRecipient, JobContent } from "../content/content-store.ts";
import { digestOf, encodeContent } from "../content/encode-content.ts";
import type { JobSettings, TemplateUse } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { JobKind } from "../job-kinds/job-kind.ts";
import { toInstant } from "../schemas/instant.ts";
import type { JobRequest, RequestedRecipient } from "../schemas/job-request.ts";
import type { Refusal } from "./check-request.ts";

/** The limit for all attachments of a job together. */
const maxAttachmentBytes = 5 * 1024 * 1024;

/** A job that is not yet accepted. */
export type JobDraft = {
  readonly job: JobRef;
  /** The bytes to store. */
  readonly content: Uint8Array;
  readonly attachments: readonly AttachmentFile[];
  readonly settings: JobSettings;
  /** The parsed content. */
  readonly decoded: JobContent;
};

export type RequestedJob = {
  readonly job: JobRef;
  /** Whether the request can be repeated, because the id of its job derives from something that stays the same. */
  readonly isRepeatable: boolean;
  /** The body as it was sent: a repetition is compared with it. */
  readonly body: unknown;
  readonly request: JobRequest;
  /** The template that the words of the request come from. */
  readonly template?: TemplateUse | null;
  readonly maxAttempts: number;
  readonly at: Instant;
};

/** Drafts a job from a checked request, with content and settings apart. */
export function draftJob({
  job,
  isRepeatable,
  body,
  request,
  template = null,
  maxAttempts,
  at,
}: RequestedJob): JobDraft {
  const kind = kindOf(request.type);
  const requested = (request.recipients ?? []).map((recipient) => toRecipient(recipient, kind));
  const recipients = distinct(requested, kind);
  const attachments = kind.attachments?.(request) ?? [];
  const own = toContent(request, kind, recipients, attachments);
  const decoded = template === null ? own : { ...own, fromTemplate: template };
  const content = encodeContent(decoded);
  const scheduledAt = instantOf(request.scheduledAt);
  const route = kind.routeOf?.(request);
  const settings: JobSettings = {
    type: kind.type,
    priority: request.priority ?? "normal",
    total: recipients.length,
    duplicates: requested.length - recipients.length,
    contentSha256: digestOf(content),
    requestSha256: isRepeatable ? digestOfRequest(body) : null,
    scheduledAt: scheduledAt !== null && scheduledAt > at ? scheduledAt : null,
    notAfter: instantOf(request.notAfter),
    maxAttempts: request.maxAttempts ?? maxAttempts,
    retryDelayMs: request.retryDelay ?? null,
    deferForMs: kind.deferForMs?.(request) ?? null,
    onUnknown: request.onUnknown ?? "resend",
    requeueOf: null,
    groupSha256: request.groupKey === undefined ? null : groupOf(job.tenant, request.groupKey),
    hasWebhookUrl: request.webhookUrl !== undefined,
    ...(template === null ? {} : { template }),
    ...(route === undefined ? {} : { route }),
  };
  return { job, content, attachments, settings, decoded };
}

/** A key may name a person, so the log holds only its digest. */
const groupOf = (tenant: string, key: string): string => digestOf(`${tenant}\n${key}`);

const instantOf = (text: string | undefined): Instant | null => (text === undefined ? null : toInstant(text));

/** Every kind of job names its recipients in a field of its own; the content holds them in one and the same field. */
export function toRecipient(recipient: RequestedRecipient, { recipients }: JobKind): ContentRecipient {
  const key = recipients?.key ?? "";
  const { [key]: text, ...rest } =
    typeof recipient === "string" ? (recipients?.ofText?.(recipient) ?? { [key]: recipient }) : recipient;
  return { email: String(text), ...rest };
}

/** One mail per address, however often and in whatever spelling the request lists it; the first one stands. */
function distinct(recipients: readonly ContentRecipient[], kind: JobKind): readonly ContentRecipient[] {
  const byKey = new Map<string, ContentRecipient>();
  for (const recipient of recipients) {
    const key = kind.recipientKey?.(recipient.email) ?? recipient.email;
    if (!byKey.has(key)) byKey.set(key, recipient);
  }
  return [...byKey.values()];
}

const toContent = (
  request: JobRequest,
  kind: JobKind,
  recipients: readonly ContentRecipient[],
  attachments: readonly AttachmentFile[],
): JobContent => {
  const { template, payload, ...own } = kind.toContent(request);
  return {
    name: request.name || null,
    metadata: request.metadata ?? {},
    ...noMail,
    ...own,
    recipients,
    ...(request.groupKey === undefined ? {} : { groupKey: request.groupKey }),
    ...(request.webhookUrl === undefined ? {} : { webhookUrl: request.webhookUrl }),
    ...(template === undefined ? {} : { template }),
    ...(attachments.length === 0 ? {} : { attachments: attachments.map(({ bytes: _, ...named }) => named) }),
    ...(payload === undefined ? {} : { payload }),
  };
};

const noMail = { subject: null, html: null, text: null, from: null, replyTo: null, headers: {} };

/** The same digest for the same request; repetitions are recognised by it. */
export const digestOfRequest = (body: unknown): string => digestOf(canonicalJson(body));

/** The same text for the same JSON, whatever the order of its keys. For shallow JSON only: the function is recursive. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}

/** Faults that show only when the job is put together: its size, and what its kind checks. */
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
