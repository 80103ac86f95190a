import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import type { Instant } from "../../src/domain/message.ts";
import { toDate, toInstant } from "../instants.ts";

/** Somebody asked for a rebuild. It stays until that is done. */
export type RebuildRequest = {
  readonly projection: string;
  readonly requestedAt: Instant;
  /** Who asked: `key:<id>`, or `anonymous`. */
  readonly requestedBy: string;
  /** Why it was given up; null while it waits or is carried out. */
  readonly error: string | null;
};

type RequestRow = {
  readonly projection: string;
  readonly requested_at: Date;
  readonly requested_by: string;
  readonly error: string | null;
};

/** Asked for again before it is done, it is the same request; one that was given up begins anew. */
export async function requestRebuild(
  db: Knex,
  { projection, requestedAt, requestedBy }: Omit<RebuildRequest, "error">,
): Promise<void> {
  // Columns are set from left to right: the error, by which the others are chosen, comes last.
  const sql = `
    INSERT INTO rebuild_requests (projection, requested_at, requested_by) VALUES (?)
    ON DUPLICATE KEY UPDATE requested_at = IF(error IS NULL, requested_at, VALUES(requested_at)),
      requested_by = IF(error IS NULL, requested_by, VALUES(requested_by)), error = NULL`;
  await db.raw(sql, [asBinding([projection, toDate(requestedAt), requestedBy])]);
}

/** The oldest first, those that were given up as well. */
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

/** One that was made since stays. */
export async function strikeOff(db: Knex, { projection, requestedAt }: RebuildRequest): Promise<void> {
  const sql = "DELETE FROM rebuild_requests WHERE projection = ? AND requested_at = ?";
  await db.raw(sql, [projection, toDate(requestedAt)]);
}

/** It stays with the reason, for people to see, until somebody asks again. */
export async function giveUp(db: Knex, { projection, requestedAt }: RebuildRequest, error: string): Promise<void> {
  const sql = "UPDATE rebuild_requests SET error = ? WHERE projection = ? AND requested_at = ?";
  await db.raw(sql, [error, projection, toDate(requestedAt)]);
}
