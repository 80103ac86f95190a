import type { Examples } from "./examples.ts";

const at = "2026-11-21T09:30:00.000Z";

/** An event of each type about a job itself, as a subscriber may receive it. The same as the one that is recorded under test/golden. */
export const jobExamples = {
  JobCreated: {
    type: "JobCreated",
    at,
    data: {
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
  },
  JobQueued: {
    type: "JobQueued",
    at,
    data: { run: 1, attempt: 1, priority: "high", opening: 1, isCrowded: true, type: "webhook.deliver" },
  },
  JobStarted: { type: "JobStarted", at, data: { run: 1, attempt: 1, worker: "worker-1" } },
  JobReleased: { type: "JobReleased", at, data: { run: 1, attempt: 1, worker: "worker-1" } },
  JobRetryScheduled: {
    type: "JobRetryScheduled",
    at,
    data: {
      run: 1,
      attempt: 2,
      priority: "normal",
      nextAttemptAt: "2026-11-21T09:31:00.000Z",
      error: { code: "smtp-unavailable", message: "The mail server cannot be reached." },
      type: "webhook.deliver",
    },
  },
  JobPaused: { type: "JobPaused", at, data: { reason: "wrong subject" } },
  JobResumed: {
    type: "JobResumed",
    at,
    data: {
      run: 1,
      attempt: 1,
      priority: "normal",
      notBefore: "2026-11-21T12:00:00.000Z",
      reason: "checked",
      opening: 1,
      groupSha256: null,
      type: "webhook.deliver",
    },
  },
  JobRescheduled: {
    type: "JobRescheduled",
    at,
    data: {
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
  },
  JobCompleted: {
    type: "JobCompleted",
    at,
    data: {
      run: 1,
      attempt: 1,
      counts: { total: 3, sent: 1, failed: 1, pending: 0, deferred: 0, unknown: 0, suppressed: 1 },
    },
  },
  JobFailed: {
    type: "JobFailed",
    at,
    data: {
      run: 1,
      attempt: 1,
      error: { code: "too-many-failures", message: "2 of 3 recipients failed." },
      counts: { total: 3, sent: 1, failed: 2, pending: 0, deferred: 0, unknown: 0, suppressed: 0 },
    },
  },
  JobCancelled: { type: "JobCancelled", at, data: { reason: "sent by mistake" } },
  JobRetried: {
    type: "JobRetried",
    at,
    data: {
      run: 2,
      attempt: 1,
      priority: "normal",
      scope: "unsent",
      reason: "mailbox is back",
      groupSha256: null,
      type: "webhook.deliver",
    },
  },
  JobRequeued: {
    type: "JobRequeued",
    at,
    data: { run: 1, asJobId: "6b1c0b52-0f1f-8c1a-9a3e-2f6f0c7a5d11", reason: "the mail server is back" },
  },
  DeadLetterIgnored: { type: "DeadLetterIgnored", at, data: { run: 2, reason: "the sale is over" } },
  JobContentErased: {
    type: "JobContentErased",
    at,
    data: {
      recipients: [0, 4],
      contentSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      isRetired: false,
      reason: "asked for by letter",
    },
  },
} as const satisfies Partial<Examples>;
