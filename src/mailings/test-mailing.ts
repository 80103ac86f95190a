import { handleMailingCommand } from "../commands/handle-command.ts";
import { readMailing } from "../commands/read-version.ts";
import type { AttachmentFile, ContentRecipient, ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent, digestOf, encodeContent } from "../content/encode-content.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { ExistingMailing, MailingRejection } from "../domain/mailing/state.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { newId } from "../event-log/new-id.ts";
import { type Accepted, findAcceptedAs } from "../intake/accept-job.ts";
import type { Refusal } from "../intake/check-request.ts";
import { type CreationDependencies, createJob, type Order } from "../intake/create-job.ts";
import { jobIdOfMailingTest } from "../intake/derived-job-id.ts";
import { digestOfRequest, type JobDraft } from "../intake/draft-job.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { TestRequest } from "../schemas/mailing-action-request.ts";

export type AskedTest = {
  readonly request: TestRequest;
  /** With a key, the same test again is the same job. */
  readonly key: string | null;
};

export type TestOutcome =
  | {
      readonly outcome: "accepted";
      readonly creation: Accepted;
      readonly recipients: number;
      readonly sequence: number;
    }
  | { readonly outcome: "refused"; readonly refusal: Refusal }
  | { readonly outcome: "rejected"; readonly rejection: MailingRejection };

/**
 * Sends the letter of a mailing to some addresses, as a job that is no part of it. First everything that could refuse the
 * job, then the event that names it, then the job. After a crash in between, the same request with the same key creates the
 * job; without a key the mailing names a test that never was sent.
 */
export async function testMailing(
  ports: CreationDependencies,
  mailing: JobRef,
  { request, key }: AskedTest,
  order: Order,
): Promise<TestOutcome> {
  const { log, contentStore, quota, room } = ports;
  const { limits, cause, at } = order;
  const from = await readMailing(log, mailing);
  const id = key === null ? newId() : jobIdOfMailingTest(mailing, key);
  const asked = { type: "TestMailing", at, jobId: id, recipients: request.to.length } as const;
  const decision = mailingDecider.decide(asked, from.state);
  if (decision.outcome === "rejected") return decision;
  if (from.state.status === "absent") throw new Error("The rules refuse to test a mailing that is not there.");
  // A repeat needs no room, and no letter: that may have been erased since.
  const earlier =
    key === null || decision.events.length > 0 ? null : await findAcceptedAs(log, { ...mailing, jobId: id });
  if (earlier?.outcome === "accepted") {
    if (earlier.created.data.requestSha256 !== digestOfRequest(request)) return reusedKey;
    return { outcome: "accepted", creation: earlier, recipients: earlier.created.data.total, sequence: from.sequence };
  }
  const drafted = await draftTest(contentStore, mailing, { ...mailing, jobId: id }, from.state, { request, key });
  if ("refusal" in drafted) return { outcome: "refused", refusal: drafted.refusal };
  const { draft } = drafted;
  const { total: recipients } = draft.settings;
  if (!(await room.isLeftForJobs(recipients))) return { outcome: "refused", refusal: { code: "event-log-full" } };
  const { dailyRecipients: limit } = limits;
  if (limit !== null && decision.events.length > 0) {
    const answer = await quota.take({ job: draft.job, recipients, perDay: limit, at });
    if (!answer.granted) {
      const { left, resetsAt } = answer;
      return { outcome: "refused", refusal: { code: "quota-exceeded", recipients, limit, left, resetsAt } };
    }
  }
  const command = { ...asked, recipients };
  const recorded = await handleMailingCommand(log, mailing, command, cause, { from });
  if (recorded.outcome === "rejected") return recorded;
  const creation = await createJob(ports, draft, order);
  if (creation.outcome === "refused") return creation;
  const { jobId } = creation.job;
  // Its own id was abandoned, as its first request did not come to its end for long.
  if (jobId !== id) await handleMailingCommand(log, mailing, { ...command, jobId }, cause);
  return { outcome: "accepted", creation, recipients, sequence: recorded.sequence };
}

const reusedKey: TestOutcome = {
  outcome: "refused",
  refusal: { code: "rejected", rejection: { code: "idempotency-key-reused" } },
};

type Drafted = { readonly draft: JobDraft } | { readonly refusal: Refusal };

/** The letter as every recipient gets it, and nothing else of the mailing: neither its group nor its last moment. */
async function draftTest(
  contentStore: ContentStore,
  mailing: JobRef,
  job: JobRef,
  { settings }: ExistingMailing,
  { request, key }: AskedTest,
): Promise<Drafted> {
  const kind = kindOf(settings.type);
  const stored = await contentStore.get(mailing);
  if (stored === null) throw new Error(`The letter of mailing ${mailing.jobId} is missing.`);
  const { mailingId: _mailing, groupKey: _group, ...letter } = decodeContent(stored);
  const recipients = distinct(request, kind.recipientKey ?? ((email) => email));
  const decoded: JobContent = { ...letter, recipients };
  const faults = (await kind.checkContent?.(decoded, { type: kind.type, recipients })) ?? [];
  if (faults.length > 0) {
    const inVariables = faults.map((fault) => ({ ...fault, pointer: "/variables" }));
    return { refusal: { code: "validation-failed", faults: inVariables } };
  }
  const content = encodeContent(decoded);
  const { maxBytes } = contentStore;
  if (content.length > maxBytes) {
    return { refusal: { code: "content-too-large", of: "content", bytes: content.length, maxBytes } };
  }
  const { type, priority, maxAttempts, retryDelayMs, onUnknown, route } = settings;
  const draft: JobDraft = {
    job,
    decoded,
    content,
    attachments: await attachmentsOf(contentStore, mailing, letter.attachments ?? []),
    settings: {
      ...{ type, priority, maxAttempts, retryDelayMs, onUnknown },
      total: recipients.length,
      duplicates: request.to.length - recipients.length,
      contentSha256: digestOf(content),
      requestSha256: key === null ? null : digestOfRequest(request),
      scheduledAt: null,
      notAfter: null,
      requeueOf: null,
      groupSha256: null,
      hasWebhookUrl: false,
      ...(route === undefined ? {} : { route }),
    },
  };
  return { draft };
}

function distinct({ to, variables }: TestRequest, keyOf: (email: string) => string): readonly ContentRecipient[] {
  const byKey = new Map<string, ContentRecipient>();
  for (const email of to) {
    const recipient = variables === undefined ? { email } : { email, variables };
    if (!byKey.has(keyOf(email))) byKey.set(keyOf(email), recipient);
  }
  return [...byKey.values()];
}

async function attachmentsOf(
  { attachments }: ContentStore,
  mailing: JobRef,
  named: NonNullable<JobContent["attachments"]>,
): Promise<readonly AttachmentFile[]> {
  const files: AttachmentFile[] = [];
  for (const attachment of named) {
    const bytes = await attachments.get(mailing, attachment.sha256);
    if (bytes === null) throw new Error(`An attachment of mailing ${mailing.jobId} is missing.`);
    files.push({ ...attachment, bytes });
  }
  return files;
}
