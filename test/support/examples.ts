import type { JobCommand } from "../../src/domain/job/commands.ts";
import type { JobError, JobSettings, RecipientCounts } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { DeliveryError } from "../../src/domain/recipients/events.ts";
import type { JobRef, NewEvent, WaybillEvent } from "../../src/event-log/event-log.ts";
import type { QueuedTurn } from "../../src/turns/turns.ts";

/** When everything in an example happens, unless it says otherwise. */
export const now: Instant = "2026-11-21T09:30:00.000Z";
export const earlier: Instant = "2026-11-21T09:29:00.000Z";
export const later: Instant = "2026-11-21T09:31:00.000Z";

type EventOf<Type extends WaybillEvent["type"]> = Extract<WaybillEvent, { type: Type }>;

/**
 * An example of an event, and the same with some of its data changed. The compiler does not follow a type parameter
 * into the members of a union; what goes in is typed above.
 */
const event =
  <Type extends WaybillEvent["type"]>(type: Type, data: EventOf<Type>["data"]) =>
  (overrides: Partial<EventOf<Type>["data"]> = {}, at: Instant = now): EventOf<Type> =>
    ({ type, at, data: { ...data, ...overrides } }) as unknown as EventOf<Type>;

/** The turn of a job that was just created, and some of it changed. */
export const queuedTurn = (some: Partial<QueuedTurn> = {}): QueuedTurn => ({
  tenant: "default",
  jobId: "job-1",
  run: 1,
  attempt: 1,
  opening: 0,
  type: "email.send",
  priority: "normal",
  after: 1,
  cause: { id: "created", correlationId: null, traceparent: null },
  created: null,
  ...some,
});

type CommandOf<Type extends JobCommand["type"]> = Extract<JobCommand, { type: Type }>;

const command =
  <Type extends JobCommand["type"]>(type: Type, data: Omit<CommandOf<Type>, "type" | "at">) =>
  (overrides: Partial<Omit<CommandOf<Type>, "type">> = {}): CommandOf<Type> =>
    ({ type, at: now, ...data, ...overrides }) as CommandOf<Type>;

export const settings: JobSettings = {
  type: "email.send",
  priority: "normal",
  total: 3,
  duplicates: 0,
  contentSha256: "a".repeat(64),
  requestSha256: null,
  scheduledAt: null,
  notAfter: null,
  maxAttempts: 4,
  retryDelayMs: null,
  onUnknown: "resend",
  requeueOf: null,
  groupSha256: null,
};

export const smtpUnavailable: JobError = { code: "smtp-unavailable", message: "The mail server cannot be reached." };
export const tooManyFailures: JobError = { code: "too-many-failures", message: "2 of 3 recipients failed." };

export const rejectedMailbox: DeliveryError = {
  code: "rejected",
  message: "550 5.1.1 <…> mailbox unavailable",
  replyCode: 550,
  statusCode: "5.1.1",
};
export const greylisted: DeliveryError = {
  code: "deferred",
  message: "451 4.7.1 greylisted, try again later",
  replyCode: 451,
  statusCode: "4.7.1",
};
export const connectionLost: DeliveryError = {
  code: "connection-lost",
  message: "The connection was lost before the answer came.",
  replyCode: null,
  statusCode: null,
};

export const counts = (some: Partial<RecipientCounts>): RecipientCounts => ({
  total: 3,
  sent: 0,
  failed: 0,
  pending: 0,
  deferred: 0,
  unknown: 0,
  suppressed: 0,
  ...some,
});

const turn = { run: 1, attempt: 1 };
const lease = { ...turn, worker: "worker-1" };
const { type, priority } = settings;

export const jobCreated = event("JobCreated", settings);
export const jobStarted = event("JobStarted", lease);
export const jobReleased = event("JobReleased", lease);
/** After attempt 1: attempt 2 is to come. */
export const jobRetryScheduled = event("JobRetryScheduled", {
  run: 1,
  attempt: 2,
  type,
  priority,
  nextAttemptAt: later,
  error: smtpUnavailable,
});
export const jobPaused = event("JobPaused", { reason: null });
export const jobResumed = event("JobResumed", {
  ...turn,
  opening: 1,
  type,
  priority,
  groupSha256: null,
  notBefore: null,
  reason: null,
});
export const jobRescheduled = event("JobRescheduled", {
  ...turn,
  opening: 1,
  type,
  priority,
  groupSha256: null,
  scheduledAt: later,
  isPaused: false,
  reason: null,
});
export const jobCompleted = event("JobCompleted", { ...turn, counts: counts({ sent: 3 }) });
export const jobFailed = event("JobFailed", {
  ...turn,
  error: tooManyFailures,
  counts: counts({ sent: 1, failed: 2 }),
});
export const jobCancelled = event("JobCancelled", { reason: null });
/** Run 2 begins. */
export const jobRetried = event("JobRetried", {
  run: 2,
  attempt: 1,
  type,
  priority,
  groupSha256: null,
  scope: "failed",
  reason: null,
});
export const jobRequeued = event("JobRequeued", { run: 1, asJobId: "the-new-job", reason: null });
export const deadLetterIgnored = event("DeadLetterIgnored", { run: 1, reason: "nobody needs it any more" });

export const recipientsClaimed = event("RecipientsClaimed", { ...lease, recipients: [0, 1, 2] });
export const recipientsReleased = event("RecipientsReleased", { ...turn, recipients: [0, 1, 2] });
export const recipientSent = event("RecipientSent", {
  ...turn,
  recipient: 0,
  messageId: "<0.7f3c@waybill.localhost>",
  response: "250 2.0.0 OK",
});
export const recipientDeferred = event("RecipientDeferred", { ...turn, recipient: 0, error: greylisted });
export const recipientFailed = event("RecipientFailed", { ...turn, recipient: 0, error: rejectedMailbox });
export const recipientUnknown = event("RecipientUnknown", { ...turn, recipient: 0, error: connectionLost });
const report = { recipient: 1, source: "dsn", reportSha256: "c".repeat(64) } as const;
export const recipientBounced = event("RecipientBounced", {
  ...report,
  bounce: "hard",
  statusCode: "5.1.1",
  replyCode: 550,
  diagnostic: "550 5.1.1 <…> no such user",
});
export const recipientComplained = event("RecipientComplained", { ...report, source: "arf", complaint: "abuse" });
export const recipientUnsubscribed = event("RecipientUnsubscribed", { recipient: 1 });
export const recipientSuppressed = event("RecipientSuppressed", { ...turn, recipient: 0, reason: "unsubscribe" });

const webhook = {
  deliveryId: "delivery-1",
  endpoint: "endpoint-1",
  type: "job.completed",
  jobSequence: 5,
  round: 1,
} as const;

export const webhookDelivered = event("WebhookDelivered", { ...webhook, attempt: 1, statusCode: 200 });
export const webhookFailed = event("WebhookFailed", {
  ...webhook,
  attempt: 1,
  statusCode: 503,
  error: { code: "http-status", message: "The receiver answered 503." },
  nextAttemptAt: later,
});
/** Round 2 begins. */
export const resultStored = event("ResultStored", {
  ...turn,
  of: "jobs",
  format: "csv",
  chunks: 1,
  rows: 10,
  bytes: 1000,
  sha256: "b".repeat(64),
});
export const webhookRedeliveryRequested = event("WebhookRedeliveryRequested", { ...webhook, round: 2 });

const failures = { alert: "failure-rate", threshold: 0.05, windowSeconds: 900, about: null } as const;

export const alertRaised = event("AlertRaised", { ...failures, value: 0.125 });
export const alertCleared = event("AlertCleared", { ...failures, value: 0.01, raisedSequence: 1 });

export const createJob = (overrides: Partial<JobSettings> = {}): JobCommand => ({
  type: "CreateJob",
  at: now,
  settings: { ...settings, ...overrides },
});
export const startJob = command("StartJob", { ...lease, opening: 0 });
export const releaseJob = command("ReleaseJob", lease);
export const endTakeovers = command("EndTakeovers", { ...turn, opening: 0, counts: counts({ sent: 1, pending: 2 }) });
export const completeJob = command("CompleteJob", { ...lease, counts: counts({ sent: 3 }) });
export const failJob = command("FailJob", {
  ...lease,
  error: tooManyFailures,
  counts: counts({ sent: 1, failed: 2 }),
});
export const scheduleRetry = command("ScheduleRetry", {
  ...lease,
  error: smtpUnavailable,
  counts: counts({ pending: 3 }),
  nextAttemptAt: later,
  isForDeferred: false,
});
export const cancelJob = command("CancelJob", { reason: null });
export const retryJob = command("RetryJob", { scope: "failed", reason: null });
export const pauseJob = command("PauseJob", { reason: null });
export const resumeJob = command("ResumeJob", { reason: null });
export const rescheduleJob = command("RescheduleJob", { reason: null });
export const requeueDeadLetter = command("RequeueDeadLetter", {
  run: 1,
  asJobId: "the-new-job",
  insteadOf: null,
  reason: null,
});
export const jobContentErased = event("JobContentErased", {
  recipients: null,
  contentSha256: null,
  isRetired: false,
  reason: null,
});
export const eraseContent = command("EraseContent", {
  recipients: null,
  contentSha256: null,
  isRetired: false,
  reason: null,
});
export const ignoreDeadLetter = command("IgnoreDeadLetter", { run: 1, reason: "nobody needs it any more" });

export const job: JobRef = { tenant: "default", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };

/** An event with its cause. A test names the ids, because they differ by their meaning. */
export const caused = <Event extends WaybillEvent>(
  id: string,
  recorded: Event,
  cause: Partial<Omit<NewEvent, "event">> = {},
): NewEvent<Event> => ({
  actor: "worker:worker-1",
  correlationId: null,
  causationId: null,
  traceparent: null,
  ...cause,
  id,
  event: recorded,
});
