import type { Pool, RowDataPacket } from "mysql2/promise";
import type { QueuedMailing } from "./queue.ts";
import { shareStatements } from "./share-statements.ts";
import { inOneTransaction, type Row } from "./tables.ts";

export type NewJob = {
  /** Made of the Idempotency-Key where there is one, so that the primary key allows it once. */
  readonly id: string;
  /** Of the request, to tell a repetition from another request with the same key; null without a key. */
  readonly requestSha256: string | null;
  readonly priority: string;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly duplicates: number;
  readonly createdAt: Date;
  readonly mailing: QueuedMailing;
};

export type Accepted = {
  readonly outcome: "created" | "repeated" | "reused";
  /** No worker has begun with it, so it has to be in the queue. */
  readonly isPending: boolean;
  readonly createdAt: Date;
  readonly duplicates: number;
};

const insertJobs = `INSERT INTO jobs (id, request_sha256, status, priority, name, subject, metadata, total, duplicates,
  sent, failed, attempt, created_at) VALUES ?`;
const insertRecipients = "INSERT INTO recipients (job_id, recipient, email, status, updated_at) VALUES ?";

/** Jobs of a thousand recipients fit into one packet of the database. */
const jobsAtOnce = 50;

/**
 * Stores a job with its recipients, then queues it. Jobs that come while others are being stored share one transaction
 * (2,850 jobs of one recipient a second where a transaction for each made 1,650), but for those with a key, which could
 * meet themselves. A crash between the two leaves a job that was never answered; repeated with its key, it is queued.
 */
export function createAcceptance(
  pool: Pool,
  enqueue: (jobs: readonly NewJob[]) => Promise<unknown>,
): (job: NewJob) => Promise<Accepted> {
  const store = (jobs: readonly NewJob[]): Promise<void> =>
    inOneTransaction(pool, [
      [insertJobs, jobs.map(toJobRow)],
      [insertRecipients, jobs.flatMap(toRecipientRows)],
    ]);
  const storeWithOthers = shareStatements(store, jobsAtOnce);
  const enqueueWithOthers = shareStatements(enqueue, jobsAtOnce);

  const storeOnce = async (job: NewJob): Promise<Accepted> => {
    try {
      await store([job]);
      return toAccepted(job);
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== "ER_DUP_ENTRY") throw failure;
      return await findRepeated(pool, job);
    }
  };

  return async (job) => {
    const isAlone = job.requestSha256 !== null;
    const accepted = isAlone ? await storeOnce(job) : await storeWithOthers(job).then(() => toAccepted(job));
    if (accepted.isPending) await enqueueWithOthers(job);
    return accepted;
  };
}

async function findRepeated(pool: Pool, { id, requestSha256 }: NewJob): Promise<Accepted> {
  const [[row]] = await pool.query<RowDataPacket[]>(
    "SELECT request_sha256, status, created_at, duplicates FROM jobs WHERE id = ?",
    [id],
  );
  const isSame = row?.["request_sha256"] === requestSha256;
  return {
    outcome: isSame ? "repeated" : "reused",
    isPending: isSame && row?.["status"] === "pending",
    createdAt: row?.["created_at"],
    duplicates: row?.["duplicates"],
  };
}

const toAccepted = ({ createdAt, duplicates }: NewJob): Accepted => ({
  outcome: "created",
  isPending: true,
  createdAt,
  duplicates,
});

const toJobRow = (job: NewJob): Row => [
  job.id,
  job.requestSha256,
  "pending",
  job.priority,
  job.name,
  job.mailing.subject,
  JSON.stringify(job.metadata),
  job.mailing.recipients.length,
  job.duplicates,
  0,
  0,
  0,
  job.createdAt,
];

const toRecipientRows = ({ id, createdAt, mailing }: NewJob): Row[] =>
  mailing.recipients.map((email, recipient) => [id, recipient, email, "pending", createdAt]);
