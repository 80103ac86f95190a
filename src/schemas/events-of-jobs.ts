import { Type } from "typebox";
import {
  counts,
  instant,
  jobError,
  jobType,
  natural,
  on,
  orNull,
  positive,
  priority,
  queueing,
  reason,
  sha256,
  turn,
} from "./event-fields.ts";

const decision = on("job");
const queued = on("queue");

/** Decisions about a job, and its turns on the queue. */
export const eventsOfJobs = {
  JobCreated: decision(
    {
      type: jobType,
      priority,
      total: natural,
      duplicates: natural,
      contentSha256: sha256,
      requestSha256: orNull(sha256),
      scheduledAt: orNull(instant),
      notAfter: orNull(instant),
      maxAttempts: positive,
      retryDelayMs: orNull(natural),
      onUnknown: Type.Enum(["resend", "skip"]),
      requeueOf: orNull(Type.String()),
      groupSha256: orNull(sha256),
    },
    {
      type: "webhook.deliver",
      priority: "high",
      total: 250,
      duplicates: 2,
      contentSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      requestSha256: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
      scheduledAt: "2026-11-21T12:00:00.000Z",
      notAfter: "2026-11-22T12:00:00.000Z",
      maxAttempts: 4,
      retryDelayMs: 30000,
      onUnknown: "skip",
      requeueOf: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0e",
      groupSha256: "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
    },
  ),
  JobQueued: queued(
    { ...turn, opening: natural, type: jobType, priority, isCrowded: Type.Boolean() },
    { run: 1, attempt: 1, priority: "high", opening: 1, isCrowded: true, type: "webhook.deliver" },
  ),
  JobStarted: decision({ ...turn, worker: Type.String() }, { run: 1, attempt: 1, worker: "worker-1" }),
  JobReleased: decision({ ...turn, worker: Type.String() }, { run: 1, attempt: 1, worker: "worker-1" }),
  JobRetryScheduled: decision(
    { ...turn, type: jobType, priority, nextAttemptAt: instant, error: jobError },
    {
      run: 1,
      attempt: 2,
      priority: "normal",
      nextAttemptAt: "2026-11-21T09:31:00.000Z",
      error: { code: "smtp-unavailable", message: "The mail server cannot be reached." },
      type: "webhook.deliver",
    },
  ),
  JobPaused: decision({ reason }, { reason: "wrong subject" }),
  JobResumed: decision(
    { ...turn, opening: natural, ...queueing, notBefore: orNull(instant), reason },
    {
      run: 1,
      attempt: 1,
      priority: "normal",
      notBefore: "2026-11-21T12:00:00.000Z",
      reason: "checked",
      opening: 1,
      groupSha256: null,
      type: "webhook.deliver",
    },
  ),
  JobRescheduled: decision(
    {
      ...turn,
      opening: positive,
      ...queueing,
      scheduledAt: orNull(instant),
      isPaused: Type.Boolean(),
      reason,
    },
    {
      run: 1,
      attempt: 1,
      opening: 1,
      priority: "high",
      groupSha256: null,
      scheduledAt: "2026-11-21T12:00:00.000Z",
      isPaused: false,
      reason: "the offer begins later",
      type: "webhook.deliver",
    },
  ),
  JobCompleted: decision(
    { ...turn, counts },
    {
      run: 1,
      attempt: 1,
      counts: { total: 3, sent: 1, failed: 1, pending: 0, deferred: 0, unknown: 0, suppressed: 1 },
    },
  ),
  JobFailed: decision(
    { ...turn, error: jobError, counts: orNull(counts) },
    {
      run: 1,
      attempt: 1,
      error: { code: "too-many-failures", message: "2 of 3 recipients failed." },
      counts: { total: 3, sent: 1, failed: 2, pending: 0, deferred: 0, unknown: 0, suppressed: 0 },
    },
  ),
  JobCancelled: decision({ reason }, { reason: "sent by mistake" }),
  JobRetried: decision(
    { ...turn, ...queueing, scope: Type.Enum(["failed", "unknown", "unsent"]), reason },
    {
      run: 2,
      attempt: 1,
      priority: "normal",
      scope: "unsent",
      reason: "mailbox is back",
      groupSha256: null,
      type: "webhook.deliver",
    },
  ),
  JobRequeued: decision(
    { run: positive, asJobId: Type.String(), reason },
    { run: 1, asJobId: "6b1c0b52-0f1f-8c1a-9a3e-2f6f0c7a5d11", reason: "the mail server is back" },
  ),
  DeadLetterIgnored: decision({ run: positive, reason: Type.String() }, { run: 2, reason: "the sale is over" }),
  JobContentErased: decision(
    {
      recipients: orNull(Type.Array(natural, { minItems: 1 })),
      contentSha256: orNull(sha256),
      isRetired: Type.Boolean(),
      reason,
    },
    {
      recipients: [0, 4],
      contentSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      isRetired: false,
      reason: "asked for by letter",
    },
  ),
} as const;
