import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import type { Instant } from "../../src/domain/message.ts";
import { toDate, toInstant } from "../instants.ts";

/** A request for a rebuild. It stays until the rebuild is done. */
export type RebuildRequest = {
  readonly projection: string;
  readonly requestedAt: Instant;
  /** The requesting actor: `key:<id>`, or `anonymous`. */
  readonly requestedBy: string;
  /** Why it was abandoned; null while it waits or is carried out. */
  readonly error: string | null;
};

type RequestRow = {
  readonly projection: string;
  readonly requested_at: Date;
  readonly requested_by: string;
  readonly error: string | null;
};

/** A repeated request before the rebuild is done is the same request; an abandoned one starts again. */
export async function requestRebuild(
  db: Knex,
  { projection, requestedAt, requestedBy }: Omit<RebuildRequest, "error">,
): Promise<void> {
  // Columns are set from left to right: the error, on which the others depend, comes last.
  const sql = `
    INSERT INTO rebuild_requests (projection, requested_at, requested_by) VALUES (?)
    ON DUPLICATE KEY UPDATE requested_at = IF(error IS NULL, requested_at, VALUES(requested_at)),
      requested_by = IF(error IS NULL, requested_by, VALUES(requested_by)), error = NULL`;
  await db.raw(sql, [asBinding([projection, toDate(requestedAt), requestedBy])]);
}

/** Oldest first, abandoned requests included. */
export async function readRebuildRequests(db: Knex): Promise<readonly RebuildRequest[]> {
  const sql =
    "SELECT projection, requested_at, requested_by, error FROM rebuild_requests ORDER BY requested_at, projection";
  const [rows] = (await db.raw(sql)) as [RequestRow[]];
  return rows.map(({ projection, requested_at, requested_by, error }) => ({
    projection,
    requestedAt: toInstant(requested_at),
    requestedBy: requested_by,
    error,
  }));
}

/** A request made since then stays. */
export async function strikeOff(db: Knex, { projection, requestedAt }: RebuildRequest): Promise<void> {
  const sql = "DELETE FROM rebuild_requests WHERE projection = ? AND requested_at = ?";
  await db.raw(sql, [projection, toDate(requestedAt)]);
}

/** Keeps the request with the reason, for operators to see, until it is requested again. */
export async function giveUp(db: Knex, { projection, requestedAt }: RebuildRequest, error: string): Promise<void> {
  const sql = "UPDATE rebuild_requests SET error = ? WHERE projection = ? AND requested_at = ?";
  await db.raw(sql, [error, projection, toDate(requestedAt)]);
}
