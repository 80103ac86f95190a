import type { Pool, RowDataPacket } from "mysql2/promise";
import { shareStatements } from "./share-statements.ts";
import { inOneTransaction, type Row, type Statement } from "./tables.ts";

/** Where a job stands, as its row says it. */
export type JobState = {
  readonly of: "job";
  readonly jobId: string;
  readonly status: "processing" | "retrying" | "completed" | "failed";
  readonly sent: number;
  readonly failed: number;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
};

/** What came of one attempt to mail a recipient; `pending` where it will be tried again. */
export type Outcome = {
  readonly of: "recipient";
  readonly jobId: string;
  readonly recipient: number;
  readonly email: string;
  readonly status: "sent" | "failed" | "pending";
  readonly attempt: number;
  readonly messageId: string | null;
  readonly response: string;
  readonly at: Date;
};

const insertLogs = `INSERT INTO logs (job_id, recipient, status, attempt, message_id, response, created_at) VALUES ?`;
const updateRecipients = `INSERT INTO recipients (job_id, recipient, email, status, updated_at) VALUES ?
  ON DUPLICATE KEY UPDATE status = VALUES(status), updated_at = VALUES(updated_at)`;
const updateJobs = `INSERT INTO jobs (id, status, sent, failed, attempt, started_at, completed_at) VALUES ?
  ON DUPLICATE KEY UPDATE status = VALUES(status), sent = VALUES(sent), failed = VALUES(failed),
    attempt = VALUES(attempt), started_at = COALESCE(started_at, VALUES(started_at)),
    completed_at = VALUES(completed_at)`;

/**
 * Writes what the worker does, in order: what comes while a transaction is under way shares the next one. Of a job that
 * starts and ends meanwhile only the end is written.
 */
export const createRecord = (pool: Pool): ((entry: JobState | Outcome) => Promise<void>) =>
  shareStatements((entries) => inOneTransaction(pool, toStatements(entries)));

/** How many recipients have an outcome, and which have none: asked before every attempt but the first. */
export async function findOutcomes(pool: Pool, jobId: string) {
  const [rows] = await pool.query<RowDataPacket[]>("SELECT recipient, status FROM recipients WHERE job_id = ?", [
    jobId,
  ]);
  const having = (status: string): number[] =>
    rows.flatMap((row) => (row["status"] === status ? [row["recipient"] as number] : []));
  return { sent: having("sent").length, failed: having("failed").length, left: having("pending") };
}

function toStatements(entries: readonly (JobState | Outcome)[]): readonly Statement[] {
  const outcomes = entries.filter((entry) => entry.of === "recipient");
  const jobs = new Map(entries.flatMap((entry) => (entry.of === "job" ? [[entry.jobId, entry] as const] : [])));
  const statements: readonly Statement[] = [
    [insertLogs, outcomes.map(toLogRow)],
    [updateRecipients, outcomes.map(toRecipientRow)],
    [updateJobs, [...jobs.values()].map(toJobRow)],
  ];
  return statements.filter(([, rows]) => rows.length > 0);
}

const toLogRow = ({ jobId, recipient, status, attempt, messageId, response, at }: Outcome): Row => [
  jobId,
  recipient,
  status,
  attempt,
  messageId,
  response,
  at,
];

const toRecipientRow = ({ jobId, recipient, email, status, at }: Outcome): Row => [jobId, recipient, email, status, at];

const toJobRow = ({ jobId, status, sent, failed, attempt, startedAt, endedAt }: JobState): Row => [
  jobId,
  status,
  sent,
  failed,
  attempt,
  startedAt,
  endedAt,
];
