import type { Examples } from "./examples.ts";

const at = "2026-11-21T09:30:00.000Z";

/** An event of each other type. The same as the one that is recorded under test/golden. */
export const otherExamples = {
  RecipientsClaimed: {
    type: "RecipientsClaimed",
    at,
    data: { run: 1, attempt: 1, worker: "worker-1", recipients: [0, 1, 2] },
  },
  RecipientsReleased: { type: "RecipientsReleased", at, data: { run: 1, attempt: 1, recipients: [0, 1, 2] } },
  RecipientSent: {
    type: "RecipientSent",
    at,
    data: { run: 1, attempt: 1, recipient: 1, messageId: "<0.7f3c@waybill.localhost>", response: "250 2.0.0 OK" },
  },
  RecipientDeferred: {
    type: "RecipientDeferred",
    at,
    data: {
      run: 1,
      attempt: 1,
      recipient: 2,
      error: {
        code: "deferred",
        message: "451 4.7.1 greylisted, try again later",
        replyCode: 451,
        statusCode: "4.7.1",
      },
    },
  },
  RecipientFailed: {
    type: "RecipientFailed",
    at,
    data: {
      run: 1,
      attempt: 1,
      recipient: 0,
      error: { code: "rejected", message: "550 5.1.1 <…> mailbox unavailable", replyCode: 550, statusCode: "5.1.1" },
    },
  },
  RecipientUnknown: {
    type: "RecipientUnknown",
    at,
    data: {
      run: 1,
      attempt: 1,
      recipient: 0,
      error: {
        code: "connection-lost",
        message: "The connection was lost before the answer came.",
        replyCode: null,
        statusCode: null,
      },
    },
  },
  ResultStored: {
    type: "ResultStored",
    at,
    data: {
      run: 1,
      attempt: 1,
      of: "logs",
      format: "csv",
      chunks: 3,
      rows: 4200,
      bytes: 1048576,
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
  },
  RecipientSuppressed: {
    type: "RecipientSuppressed",
    at,
    data: { run: 1, attempt: 1, recipient: 0, reason: "unsubscribe" },
  },
  WebhookDelivered: {
    type: "WebhookDelivered",
    at,
    data: {
      deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
      endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
      type: "job.completed",
      jobSequence: 8,
      round: 1,
      attempt: 1,
      statusCode: 204,
    },
  },
  WebhookFailed: {
    type: "WebhookFailed",
    at,
    data: {
      deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
      endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
      type: "job.completed",
      jobSequence: 8,
      round: 1,
      attempt: 1,
      statusCode: 503,
      error: { code: "http-status", message: "The receiver answered 503." },
      nextAttemptAt: "2026-11-21T09:30:05.000Z",
    },
  },
  WebhookRedeliveryRequested: {
    type: "WebhookRedeliveryRequested",
    at,
    data: {
      deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
      endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
      type: "job.completed",
      jobSequence: 8,
      round: 2,
    },
  },
  NotificationRead: { type: "NotificationRead", at, data: { run: 1 } },
  AlertRaised: {
    type: "AlertRaised",
    at,
    data: { alert: "failure-rate", value: 0.125, threshold: 0.05, windowSeconds: 900, about: null },
  },
  AlertCleared: {
    type: "AlertCleared",
    at,
    data: { alert: "projection-lag", value: 0, threshold: 60, windowSeconds: null, about: "stats", raisedSequence: 17 },
  },
  LogSealed: {
    type: "LogSealed",
    at,
    data: {
      from: 1,
      to: 10000,
      count: 10000,
      root: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
      previous: null,
      keyId: "ef95e00dce5f4ce7",
      publicKey: "MCowBQYDK2VwAyEAgH0mALXaYE+sg1y7v4D2YKZmpVKlsCIhl0DcgSePONM=",
      signature: "yIUXEplw98nqXf7yIlU7WaiI5qUS5FVPjRKDdHBimIi8jaRPZFerWTixsQZUzKXtKmIkqQgxNOxwhKLtJ3j/CA==",
    },
  },
  MessagePassed: {
    type: "MessagePassed",
    at,
    data: {
      sequence: 17,
      subject: "jobs.acme.0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f.job",
      sha256: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
      fault: "Unexpected end of JSON input",
      reason: "Written by hand while the service was tried out",
    },
  },
} as const satisfies Partial<Examples>;
