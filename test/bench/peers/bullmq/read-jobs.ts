import type { Pool, RowDataPacket } from "mysql2/promise";
import { defaultJobType, type Priority } from "../../../../src/domain/job/events.ts";
import type { JobRecord } from "../../../../src/domain/job/job-record.ts";
import type { JobStatus } from "../../../../src/domain/job/job-view.ts";

export type ListQuery = {
  readonly status: readonly string[];
  readonly pageSize: number;
  /** `createdAt,id` of the last job of the page before. */
  readonly cursor: string | null;
};

export type RecipientsQuery = { readonly page: number; readonly pageSize: number };

/** Each answer comes from the rows, by an index. */
export type Reads = {
  find(id: string): Promise<JobRecord | null>;
  list(query: ListQuery): Promise<readonly JobRecord[]>;
  recipients(id: string, query: RecipientsQuery): Promise<readonly object[]>;
};

export const createReads = (pool: Pool, maxAttempts: number): Reads => ({
  find: async (id) => {
    const [[row]] = await pool.query<RowDataPacket[]>("SELECT * FROM jobs WHERE id = ?", [id]);
    return row === undefined ? null : toRecord(row, maxAttempts);
  },
  list: async ({ status, pageSize, cursor }) => {
    const [at = "", id] = cursor?.split(",") ?? [];
    const after = new Date(at);
    const conditions = [
      ...(status.length === 0 ? [] : ["status IN (?)"]),
      ...(cursor === null ? [] : ["(created_at < ? OR (created_at = ? AND id < ?))"]),
    ];
    const values = [...(status.length === 0 ? [] : [status]), ...(cursor === null ? [] : [after, after, id])];
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const [rows] = await pool.query<RowDataPacket[]>(
      `SELECT * FROM jobs ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
      [...values, pageSize],
    );
    return rows.map((row) => toRecord(row, maxAttempts));
  },
  recipients: async (id, { page, pageSize }) => {
    const [rows] = await pool.query<RowDataPacket[]>(
      `SELECT recipient.recipient, email, recipient.status, attempt, message_id, response, updated_at
        FROM recipients AS recipient LEFT JOIN logs AS log ON log.id = (SELECT MAX(id) FROM logs AS other
          WHERE other.job_id = recipient.job_id AND other.recipient = recipient.recipient)
        WHERE recipient.job_id = ? ORDER BY recipient.recipient LIMIT ? OFFSET ?`,
      [id, pageSize, (page - 1) * pageSize],
    );
    return rows.map(toRecipient);
  },
});

function toRecord(row: RowDataPacket, maxAttempts: number): JobRecord {
  const { total, sent, failed } = row as unknown as JobRecord["progress"];
  return {
    id: row["id"],
    type: defaultJobType,
    status: row["status"] as JobStatus,
    priority: row["priority"] as Priority,
    name: row["name"],
    subject: row["subject"],
    metadata: JSON.parse(row["metadata"]),
    progress: { total, sent, failed, pending: total - sent - failed, ...nothingElse },
    attempt: row["attempt"],
    maxAttempts,
    createdAt: row["created_at"].toISOString(),
    scheduledAt: null,
    startedAt: row["started_at"]?.toISOString() ?? null,
    completedAt: row["completed_at"]?.toISOString() ?? null,
    nextAttemptAt: null,
    error: null,
    requeueOf: null,
    mailingId: null,
  };
}

const toRecipient = (row: RowDataPacket): object => ({
  recipient: row["recipient"],
  email: row["email"],
  status: row["status"],
  attempt: row["attempt"],
  messageId: row["message_id"],
  response: row["response"],
  updatedAt: row["updated_at"].toISOString(),
});

const nothingElse = { deferred: 0, unknown: 0, suppressed: 0, bounced: 0, complained: 0 };
