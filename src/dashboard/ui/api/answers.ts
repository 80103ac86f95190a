import type { DeadLetterRecord } from "../../../domain/job/dead-letter.ts";
import type { EventOfJob } from "../../../domain/job/job-view.ts";
import type { NotificationRecord } from "../../../domain/notifications/notification.ts";
import type { RecipientStatus } from "../../../domain/recipients/recipient-status.ts";
import type { toJobAnswer } from "../../../http/answers/job.ts";

// What the API answers, as far as the dashboard reads it. What the server makes in a file without dependencies is taken
// from there; the rest is written down again, and test/dashboard/answers-fit.ts does not compile where the server says
// something else.

export type JobAnswer = ReturnType<typeof toJobAnswer>;
export type NotificationAnswer = NotificationRecord & { readonly id: string };
export type DeadLetterAnswer = DeadLetterRecord & { readonly id: string };

export type EventAnswer = {
  readonly sequence: number;
  readonly type: EventOfJob["type"];
  readonly time: string;
  readonly jobId: string;
  readonly tenant: string;
  readonly actor: string;
  readonly data: unknown;
};

export type Me = { readonly tenant: string; readonly actor: string; readonly scopes: readonly Scope[] };

export type Scope = "jobs:read" | "jobs:write" | "events:read" | "admin";

/** The total of jobs is null where it would take too long to count them. */
export type Paged<Row, Total extends number | null = number> = {
  readonly data: readonly Row[];
  readonly pagination: {
    readonly page: number | null;
    readonly pageSize: number;
    readonly total: Total;
    readonly totalPages: Total;
    readonly nextCursor?: string | null;
  };
};

/** The list of suppressions counts its cursors, the others are words. */
export type Listed<Row> = { readonly data: readonly Row[]; readonly nextCursor: string | number | null };

export type FeedPage<Event> = {
  readonly data: readonly Event[];
  readonly nextCursor: string;
  /** There is more in the log already. */
  readonly hasMore: boolean;
};

export type Rates = {
  readonly jobsCreated: number;
  readonly jobsCompleted: number;
  readonly jobsFailed: number;
  readonly jobsCancelled: number;
  readonly mailsSent: number;
  readonly mailsFailed: number;
  readonly mailsUnknown: number;
  readonly mailsSuppressed: number;
};

export type StatsAnswer = {
  readonly at: string;
  readonly jobs: Readonly<Record<JobAnswer["status"], number>>;
  readonly waiting: Readonly<
    Record<JobAnswer["priority"], { readonly jobs: number; readonly oldestAgeSeconds: number | null }>
  >;
  readonly perMinute: { readonly last5Minutes: Rates; readonly last60Minutes: Rates };
  readonly failureRate: { readonly jobs: number | null; readonly mails: number | null } | null;
  readonly projections: Readonly<
    Record<string, { readonly sequence: number; readonly lagEvents: number | null; readonly lagSeconds: number | null }>
  >;
};

/** A recipient as it stands; what is told besides is of the last attempt that counts. */
export type RecipientAnswer = {
  /** Its index in the job. */
  readonly recipient: number;
  readonly email: string | null;
  readonly status: RecipientStatus;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly updatedAt: string;
};

/** One attempt of one recipient, from the logs of a job. */
export type LogEntry = {
  readonly id: string;
  readonly recipient: number;
  readonly email: string | null;
  readonly status: "success" | "failed" | "deferred" | "unknown" | "suppressed";
  readonly attempt: number;
  readonly run: number;
  readonly createdAt: string;
  readonly messageId: string | null;
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** One attempt as a ledger tells it. */
export type Attempt = Pick<LogEntry, "run" | "attempt" | "messageId" | "response" | "error"> & {
  readonly status: string;
  readonly at: string;
};

/** What one mailing, or another job, was to one address. */
export type LedgerEntry = Pick<JobAnswer, "type" | "name" | "subject" | "createdAt"> & {
  readonly jobId: string;
  readonly recipient: number;
  readonly status: RecipientStatus;
  readonly history: readonly Attempt[];
};

export const suppressionReasons = ["manual", "unsubscribe", "hard-bounce"] as const;

export type SuppressionAnswer = {
  /** Null where it was forgotten: that it is not to be mailed is known all the same. */
  readonly email: string | null;
  readonly reason: (typeof suppressionReasons)[number];
  readonly createdAt: string;
};

/** By name; what else stands there depends on which one it is. */
export type Dependencies = Readonly<
  Record<string, { readonly status: string; readonly needed: boolean } & Readonly<Record<string, unknown>>>
>;

export type SealAnswer = {
  readonly sequence: number;
  readonly sealedAt: string;
  readonly from: number;
  readonly to: number;
  readonly digest: string;
  readonly keyId: string;
};

type RowsAnswer = { readonly version: number; readonly sequence: number };

export type ReadModelAnswer = {
  readonly name: string;
  readonly version: number;
  readonly status: "live" | "rebuilding" | "stopped" | null;
  readonly error: string | null;
  readonly live: RowsAnswer | null;
  readonly next: RowsAnswer | null;
  readonly kept: RowsAnswer | null;
  readonly request: {
    readonly requestedAt: string;
    readonly requestedBy: string;
    readonly error: string | null;
  } | null;
};

export type ReadModelList = { readonly lastSequence: number | null; readonly data: readonly ReadModelAnswer[] };

export type StreamAnswer = {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly maxBytes: number | null;
  readonly maxMessages: number | null;
  readonly maxAgeSeconds: number | null;
  readonly replicas: number;
};

export type SystemAnswer = {
  readonly streams: readonly StreamAnswer[];
  readonly consumers: readonly {
    readonly name: string;
    readonly stream: string;
    readonly pending: number | null;
    readonly ackPending: number | null;
    readonly redelivered: number | null;
  }[];
  readonly workers: readonly {
    readonly name: string;
    readonly type: string;
    readonly busy: number;
    readonly slots: number;
    readonly breaker: string | null;
  }[];
  readonly keys: readonly {
    readonly id: string;
    readonly tenant: string;
    readonly name: string | null;
    readonly scopes: readonly Scope[];
    readonly createdAt: string;
    readonly revokedAt: string | null;
  }[];
  readonly passed: readonly {
    readonly sequence: number;
    readonly subject: string;
    readonly fault: string;
    readonly reason: string;
    readonly passedAt: string;
    readonly passedBy: string;
  }[];
};

export type EndpointAnswer = {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly createdAt: string;
};

export type CreatedAnswer = { readonly jobId: string; readonly duplicates: number };

export type DryRunAnswer = {
  readonly recipients: number;
  readonly duplicates: number;
  readonly mail: {
    readonly from: string;
    readonly to: string;
    readonly subject: string;
    readonly html: string | null;
    readonly text: string | null;
    readonly size: number;
    readonly raw: string;
  };
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
};

export type CaughtMail = {
  readonly id: string;
  readonly receivedAt: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
};
