import type { Knex } from "knex";
import { isServerError } from "../../src/database/database-failure.ts";
import type { Suffix } from "../projector.ts";

/**
 * How far a projection has come. It is one of the projection's own tables, so that the rename that swaps the rows swaps
 * the checkpoint with them.
 */
export type Checkpoint = {
  /** The sequence of the last event projected; 0 before the first. */
  readonly sequence: number;
  /** Distinguishes the log from another one at the same address; null before the first event. */
  readonly logCreatedAt: string | null;
  /** The version of the projector that created the tables. */
  readonly version: number;
};

type CheckpointRow = { readonly sequence: number; readonly log_created_at: string | null; readonly version: number };

export const checkpointTable = (projection: string, suffix: Suffix = ""): string =>
  `${projection.replaceAll("-", "_")}_checkpoint${suffix}`;

export const checkpointColumns = `
  id TINYINT NOT NULL,
  sequence BIGINT NOT NULL,
  log_created_at VARCHAR(64) NULL,
  version INT NOT NULL,
  PRIMARY KEY (id)`;

export async function beginCheckpoint(db: Knex, projection: string, suffix: Suffix, version: number): Promise<void> {
  const sql = "INSERT INTO ?? (id, sequence, log_created_at, version) VALUES (1, 0, NULL, ?)";
  await db.raw(sql, [checkpointTable(projection, suffix), version]);
}

/** Null if the table has no row: the process that created it was interrupted. */
export async function readCheckpoint(db: Knex, projection: string, suffix: Suffix = ""): Promise<Checkpoint | null> {
  const sql = "SELECT sequence, log_created_at, version FROM ?? WHERE id = 1";
  const [rows] = (await db.raw(sql, [checkpointTable(projection, suffix)])) as [CheckpointRow[]];
  const row = rows[0];
  return row === undefined
    ? null
    : { sequence: Number(row.sequence), logCreatedAt: row.log_created_at, version: row.version };
}

/** The row beside the checkpoint, in tables beside the live ones: the last erasure that the rows may lack. */
const erasureId = 2;

/** Notes that the rows hold something that was erased, until they have come to that event. */
export async function noteErasure(db: Knex, projection: string, suffix: Suffix, sequence: number): Promise<void> {
  const sql = `
    INSERT INTO ?? (id, sequence, log_created_at, version) VALUES (${erasureId}, ?, NULL, 0)
    ON DUPLICATE KEY UPDATE sequence = GREATEST(sequence, VALUES(sequence))`;
  await db.raw(sql, [checkpointTable(projection, suffix), sequence]).catch(unlessMissing);
}

/** For rows that have come to every event. */
export async function forgetErasures(db: Knex, projection: string, suffix: Suffix): Promise<void> {
  await db.raw(`DELETE FROM ?? WHERE id = ${erasureId}`, [checkpointTable(projection, suffix)]);
}

/** Whether the rows lack an erasure. Without a checkpoint no process can bring them up to it. */
export async function lacksErasure(db: Knex, projection: string, suffix: Suffix): Promise<boolean> {
  const sql = "SELECT id, sequence FROM ??";
  const found = await db.raw(sql, [checkpointTable(projection, suffix)]).catch(unlessMissing);
  const rows: readonly Pick<CheckpointRow & { readonly id: number }, "id" | "sequence">[] = found?.[0] ?? [];
  const sequenceOf = (id: number): number => Number(rows.find((row) => row.id === id)?.sequence ?? Number.NaN);
  return Number.isNaN(sequenceOf(1)) || sequenceOf(erasureId) > sequenceOf(1);
}

function unlessMissing(failure: unknown): null {
  if (isServerError(failure, "noSuchTable")) return null;
  throw failure;
}

/** The fence behind the lock: returns false, and changes nothing, if another process has moved the checkpoint. */
export async function moveCheckpoint(
  db: Knex,
  projection: string,
  suffix: Suffix,
  from: Checkpoint,
  to: Checkpoint,
): Promise<boolean> {
  const sql = "UPDATE ?? SET sequence = ?, log_created_at = ? WHERE id = 1 AND sequence = ? AND version = ?";
  const bindings = [checkpointTable(projection, suffix), to.sequence, to.logCreatedAt, from.sequence, from.version];
  const [result] = (await db.raw(sql, bindings as Knex.RawBinding[])) as [{ affectedRows: number }];
  return result.affectedRows === 1;
}
