import { handleMailingCommand } from "../commands/handle-command.ts";
import { type MailingVersion, newMailing, readMailing } from "../commands/read-version.ts";
import type { ContentStore } from "../content/content-store.ts";
import { digestOf, encodeContent } from "../content/encode-content.ts";
import { eraseContent } from "../content/stored-content.ts";
import type { TemplateUse } from "../domain/job/events.ts";
import type { MailingSettings } from "../domain/mailing/events.ts";
import type { MailingRejection, MailingState } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { storeContent } from "../intake/accept-job.ts";
import { jobIdInsteadOf } from "../intake/derived-job-id.ts";
import { digestOfRequest, type JobDraft } from "../intake/draft-job.ts";
import { type BrakesAsked, brakesOf } from "./brake-fields.ts";
import type { MailingRequest } from "./mailing-request.ts";

/** A mailing that is not yet accepted: its letter, and the settings of its parts. */
export type MailingDraft = Pick<JobDraft, "content" | "attachments"> & {
  readonly mailing: JobRef;
  readonly settings: MailingSettings;
};

export type MailingCreation =
  | {
      readonly outcome: "accepted";
      /** The mailing of the draft, or, where that one was abandoned, the one that replaces it. */
      readonly mailing: JobRef;
      /** The mailing existed before: the same request was repeated. */
      readonly isRepeat: boolean;
      readonly createdAt: Instant;
      readonly template: TemplateUse | null;
      readonly sequence: number;
    }
  | { readonly outcome: "rejected"; readonly rejection: MailingRejection };

/** A draft of a job without recipients, as the letter of a mailing, with what its request says beside. */
export function toMailingDraft(
  { job, decoded, attachments, settings }: JobDraft,
  { undoFor = 0, approval, ...asked }: Pick<MailingRequest, "undoFor" | "approval"> & BrakesAsked = {},
): MailingDraft {
  const content = encodeContent({ ...decoded, mailingId: null });
  const { type, priority, requestSha256, notAfter, maxAttempts, onUnknown, groupSha256 } = settings;
  const { retryDelayMs, deferForMs = null, template, route } = settings;
  const own = {
    type,
    priority,
    requestSha256,
    notAfter,
    maxAttempts,
    retryDelayMs,
    deferForMs,
    onUnknown,
    groupSha256,
  };
  const used = { ...(template === undefined ? {} : { template }), ...(route === undefined ? {} : { route }) };
  const people = { undoForMs: undoFor * 1000, needsApproval: approval === "required", brakes: brakesOf(asked) };
  const all = { ...own, ...used, ...people, contentSha256: digestOf(content) };
  return { mailing: job, content, attachments, settings: all };
}

/**
 * Stores the letter, then the event that names its digest: exactly once for a draft that can be repeated, under another id
 * where its own was abandoned. What holds of a job that is created holds here: see acceptJobAs.
 */
export async function createMailing(
  log: EventLog,
  contentStore: ContentStore,
  draft: MailingDraft,
  cause: Cause,
  at: Instant,
): Promise<MailingCreation> {
  for (let { mailing } = draft; ; mailing = { ...mailing, jobId: jobIdInsteadOf(mailing) }) {
    const creation = await createAs(log, contentStore, { ...draft, mailing }, cause, at);
    if (creation !== "abandoned") return creation;
  }
}

/** The mailing, where the same request has created it before; else null. */
export async function findMailingOf(
  log: EventLog,
  first: JobRef,
  request: unknown,
): Promise<Extract<MailingCreation, { outcome: "accepted" }> | null> {
  for (let mailing = first; ; mailing = { ...mailing, jobId: jobIdInsteadOf(mailing) }) {
    const { state, sequence } = await readMailing(log, mailing);
    if (isFree(state)) return null;
    if (state.status === "absent") continue;
    const { settings, createdAt } = state;
    if (settings.requestSha256 !== digestOfRequest(request)) return null;
    return { outcome: "accepted", mailing, isRepeat: true, createdAt, template: settings.template ?? null, sequence };
  }
}

async function createAs(
  log: EventLog,
  contentStore: ContentStore,
  { mailing, content, attachments, settings }: MailingDraft,
  cause: Cause,
  at: Instant,
): Promise<MailingCreation | "abandoned"> {
  // No other process knows an id that was made a moment ago.
  let from: MailingVersion = settings.requestSha256 === null ? newMailing : await readMailing(log, mailing);
  while (isFree(from.state)) {
    const found = await storeContent(contentStore, { job: mailing, content, attachments, settings });
    if (found === "stored") break;
    from = await readMailing(log, mailing);
    if (found === "other" && isFree(from.state)) {
      return { outcome: "rejected", rejection: { code: "idempotency-key-reused" } };
    }
  }
  const outcome = await handleMailingCommand(log, mailing, { type: "CreateMailing", at, settings }, cause, { from });
  if (outcome.outcome === "rejected") {
    if (outcome.rejection.code !== "mailing-not-found") return outcome;
    // The sweeper was faster: what was stored since came too late.
    if (isFree(from.state)) await eraseContent(contentStore, mailing);
    return "abandoned";
  }
  const { state, events, sequence } = outcome;
  const createdAt = state.status === "absent" ? at : state.createdAt;
  const template = (state.status === "absent" ? settings : state.settings).template ?? null;
  return { outcome: "accepted", mailing, isRepeat: events.length === 0, createdAt, template, sequence };
}

const isFree = (state: MailingState): boolean => state.status === "absent" && !state.isAbandoned;
