import type { JobRef } from "../event-log/event-log.ts";

/** The file that one run of a job makes. */
export type ResultRef = JobRef & { readonly run: number };

export type ResultPiece = { readonly run: number; readonly index: number };

/**
 * A piece of the file, which ends between two rows. Its cursor is the position after the last of them, where the next
 * piece starts.
 */
export type ResultChunk = {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** Null before the first row. */
  readonly cursor: string | null;
  /** No piece follows: the file is complete. */
  readonly isLast: boolean;
};

/**
 * Holds files in pieces that are numbered from 0. A piece is stored once and never changed, so every writer continues
 * after the stored pieces, and a file has every row once however many processes write it.
 *
 * Every method throws Unavailable when the store cannot be reached within its deadline.
 */
export interface ResultStore {
  /** The largest size of a piece, in bytes. */
  readonly maxBytes: number;

  /** False if a piece with this number exists, which stays as it is. Throws ResultStoreFull. */
  put(result: ResultRef, index: number, chunk: ResultChunk): Promise<boolean>;

  /** Null if there is none (any more). */
  get(result: ResultRef, index: number): Promise<ResultChunk | null>;

  /** All files of a tenant with at least one stored piece, complete or not. */
  ofTenant(tenant: string): Promise<readonly ResultRef[]>;

  /** The numbers of the stored pieces of a job, of all its runs; there may be gaps where pieces were erased. */
  piecesOf(job: JobRef): Promise<readonly ResultPiece[]>;

  /** Overwrites and removes a piece; a missing one is not a failure. */
  erase(result: ResultRef, index: number): Promise<void>;
}

/** The store has reached its limit, or the disk under it is full; nothing was stored. */
export class ResultStoreFull extends Error {
  override readonly name = "ResultStoreFull";
}
