import type { ContentStore } from "../content/content-store.ts";
import { readLabels } from "../content/stored-content.ts";
import { type JobRecord, toJobRecord } from "../domain/job/job-record.ts";
import { foldJobView } from "../domain/job/job-view.ts";
import type { MailingRecord } from "../domain/mailing/mailing-record.ts";
import { isAboutMailing, type WebhookDelivery, type WebhookEvent } from "../domain/webhooks/events.ts";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import { mailingFromLog } from "../history/mailing-from-log.ts";
import type { FairSemaphore } from "../process/semaphore.ts";
import type { Breakers } from "../signed-post/breakers.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import { deliverUnlessDown, neverAgain, type Payload, type Verdict } from "../signed-post/signed-post.ts";
import type { Receivers } from "./receivers.ts";

/** One attempt of a delivery, and the event that caused it. */
export type DeliveryAttempt = {
  readonly job: JobRef;
  readonly delivery: WebhookDelivery;
  readonly attempt: number;
  readonly cause: Omit<Cause, "actor">;
};

export type SenderDependencies = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly receivers: Receivers;
  readonly post: SafePost;
  readonly breakers: Breakers;
  readonly semaphore: FairSemaphore;
  readonly show: ShowJob;
  readonly showMailing: ShowMailing;
};

export type Sender = {
  /**
   * Makes an attempt and records its outcome. After a crash between the two, nothing is recorded: the attempt is made
   * again, with the same id. Once the signal has aborted, nothing more is recorded. False if there was no room for it
   * within `patienceMs`: then nothing was done.
   */
  send(attempt: DeliveryAttempt, signal: AbortSignal, patienceMs: number): Promise<boolean>;
  /** Records that the attempt was not made because the tenant's receivers are slow. A later attempt will be. */
  putOff(attempt: DeliveryAttempt, signal: AbortSignal): Promise<void>;
};

export function createSender(dependencies: SenderDependencies): Sender {
  const { log, semaphore } = dependencies;
  const record = async (attempt: DeliveryAttempt, verdict: Verdict, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const event = toEvent(attempt, verdict, Date.now());
    const { delivery, attempt: number, job, cause } = attempt;
    const id = `${delivery.deliveryId}/${delivery.round}/${number}/${event.type}`;
    await persistently(signal, () => log.record(job, [{ ...cause, id, actor: "webhooks", event }]));
  };
  return {
    send: async (attempt, signal, patienceMs) => {
      const make = () => makeAttempt(dependencies, attempt, signal);
      const verdict = await semaphore.runWithin(patienceMs, attempt.job.tenant, make);
      if (verdict !== null) await record(attempt, verdict, signal);
      return verdict !== null;
    },
    putOff: (attempt, signal) => record(attempt, receiversSlow, signal),
  };
}

const receiversSlow: Verdict = {
  kind: "again",
  statusCode: null,
  error: { code: "receivers-slow", message: "Too many messages of the tenant wait for slow receivers." },
  retryAfterMs: null,
};

async function makeAttempt(
  dependencies: SenderDependencies,
  { job, delivery, cause }: DeliveryAttempt,
  signal: AbortSignal,
): Promise<Verdict> {
  const { receivers } = dependencies;
  const receiver = await receivers.find(job, delivery.endpoint);
  if (receiver === null)
    return neverAgain("receiver-gone", "The endpoint, or the webhookUrl of the job or mailing, was deleted.");
  const payload = await (isAboutMailing(delivery.type) ? payloadOfMailing : payloadOf)(dependencies, job, delivery);
  const message = { id: delivery.deliveryId, payload, traceparent: cause.traceparent };
  return await deliverUnlessDown(dependencies, receiver.name, receiver, message, signal);
}

function toEvent({ delivery, attempt }: DeliveryAttempt, verdict: Verdict, nowMs: number): WebhookEvent {
  const at = new Date(nowMs).toISOString();
  const data = { ...delivery, attempt };
  if (verdict.kind === "delivered") {
    return { type: "WebhookDelivered", at, data: { ...data, statusCode: verdict.statusCode } };
  }
  const { statusCode, error, retryAfterMs } = verdict;
  const delayMs = verdict.kind === "again" ? webhookDelayMs(attempt, retryAfterMs, Math.random()) : null;
  const nextAttemptAt = delayMs === null ? null : new Date(nowMs + delayMs).toISOString();
  return { type: "WebhookFailed", at, data: { ...data, statusCode, error, nextAttemptAt } };
}

/** Shows a job, or a mailing, as the API answers it. */
export type ShowJob = (job: JobRecord) => unknown;
export type ShowMailing = (mailing: MailingRecord) => unknown;

/**
 * The payload of a delivery, read from the log and no read model. It shows the job as it was when it ended, so it is the
 * same on every attempt, unless the job's labels were erased meanwhile.
 */
async function payloadOf(
  { log, contentStore, show }: SenderDependencies,
  job: JobRef,
  { type, jobSequence }: WebhookDelivery,
): Promise<Payload> {
  const history = (await log.readHistory(job)).filter(({ sequence }) => sequence <= jobSequence);
  const view = foldJobView(history.map(({ event }) => event));
  const last = history.at(-1);
  if (view === null || last?.sequence !== jobSequence) {
    throw new Error(`The log has no event ${jobSequence} of job ${job.jobId}.`);
  }
  const data = show(toJobRecord(job.jobId, view, await readLabels(contentStore, job)));
  return { type, timestamp: last.event.at, data };
}

/** The same of a mailing. One that was cancelled is shown as it was then: mails that were on their way come later. */
async function payloadOfMailing(
  { log, contentStore, showMailing }: SenderDependencies,
  mailing: JobRef,
  { type, jobSequence }: WebhookDelivery,
): Promise<Payload> {
  const decision = (await log.readMailing(mailing)).find(({ sequence }) => sequence === jobSequence);
  const found = await mailingFromLog(log, contentStore, mailing, jobSequence);
  if (decision === undefined || found === null) {
    throw new Error(`The log has no event ${jobSequence} of mailing ${mailing.jobId}.`);
  }
  return { type, timestamp: decision.event.at, data: showMailing(found.mailing) };
}
