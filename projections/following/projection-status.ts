import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import { isServerError } from "../../src/database/database-failure.ts";
import { isLockFree } from "../../src/database/database-lock.ts";
import type { Projector } from "../projector.ts";
import { rebuildLock } from "./projection-lock.ts";

export type ProjectionStatus = {
  readonly status: "live" | "rebuilding" | "stopped";
  /** Why it stopped, and before which event. */
  readonly error?: string | null;
  readonly stoppedAtSequence?: number | null;
};

type StatusRow = {
  readonly status: ProjectionStatus["status"];
  readonly error: string | null;
  readonly stopped_at_sequence: number | null;
};

/** Null before the projection ran for the first time. */
export async function readStatus(db: Knex, projection: string): Promise<ProjectionStatus | null> {
  const sql = "SELECT status, error, stopped_at_sequence FROM projections WHERE name = ?";
  const [rows] = (await db.raw(sql, [projection])) as [StatusRow[]];
  const row = rows[0];
  return row === undefined
    ? null
    : { status: row.status, error: row.error, stoppedAtSequence: row.stopped_at_sequence };
}

export type StoppedProjection = { readonly projection: string; readonly atSequence: number | null };

/** The projections that wait for an operator; none before any ran. Throws if the database cannot be asked. */
export async function readStopped(db: Knex): Promise<readonly StoppedProjection[]> {
  const sql = "SELECT name, stopped_at_sequence FROM projections WHERE status = 'stopped' ORDER BY name";
  try {
    const [rows] = (await db.raw(sql)) as [{ name: string; stopped_at_sequence: number | null }[]];
    return rows.map(({ name, stopped_at_sequence }) => ({ projection: name, atSequence: stopped_at_sequence }));
  } catch (failure) {
    if (isServerError(failure, "noSuchTable")) return [];
    throw failure;
  }
}

export async function writeStatus(
  db: Knex,
  { name, version }: Projector,
  { status, error = null, stoppedAtSequence = null }: ProjectionStatus,
): Promise<void> {
  const sql = `
    INSERT INTO projections (name, version, status, error, stopped_at_sequence, updated_at) VALUES (?)
    ON DUPLICATE KEY UPDATE version = VALUES(version), status = VALUES(status), error = VALUES(error),
      stopped_at_sequence = VALUES(stopped_at_sequence), updated_at = VALUES(updated_at)`;
  const row = [name, version, status, error, stoppedAtSequence, new Date()];
  await db.raw(sql, [asBinding(row)]);
}

/** Keeps the state of a running rebuild, which records its own end; one that was killed did not. */
export async function becomeLive(db: Knex, projector: Projector): Promise<void> {
  const before = await readStatus(db, projector.name);
  if (before?.status === "live") return;
  if (before?.status === "rebuilding" && !(await isLockFree(db, rebuildLock(projector.name)))) return;
  await writeStatus(db, projector, { status: "live" });
}
