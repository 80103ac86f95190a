import type { JobRef } from "../event-log/event-log.ts";

/** The file that one run of a job makes. */
export type ResultRef = JobRef & { readonly run: number };

/** A piece of the file, which ends between two rows. Its cursor says where reading goes on after the last of them. */
export type ResultChunk = {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** Null before the first row. */
  readonly cursor: string | null;
  /** Nothing comes after it: the file is whole. */
  readonly isLast: boolean;
};

/**
 * Holds files in pieces that are numbered from 0. A piece is stored once and never changed, so whoever goes on with a
 * file goes on behind what is stored, and a file has every row once however many write it.
 *
 * Every method throws Unavailable when the store cannot be reached within its deadline.
 */
export interface ResultStore {
  /** The most bytes of a piece. */
  readonly maxBytes: number;

  /** False where there is a piece of this number already, which stays as it is. Throws ResultStoreFull. */
  put(result: ResultRef, index: number, chunk: ResultChunk): Promise<boolean>;

  /** Null where there is none (any more). */
  get(result: ResultRef, index: number): Promise<ResultChunk | null>;

  /** All files of a tenant of which anything is stored, whole or not. */
  ofTenant(tenant: string): Promise<readonly ResultRef[]>;

  /** Overwrites and removes a piece; one that is not there is no failure. */
  erase(result: ResultRef, index: number): Promise<void>;
}

/** The store has reached its limit, or the disk under it is full; nothing was stored. */
export class ResultStoreFull extends Error {
  override readonly name = "ResultStoreFull";
}
