import { createHash } from "node:crypto";
import type { ResultChunk, ResultRef, ResultStore } from "../../content/result-store.ts";

/** A file while it is written: its stored part, and where it continues. */
export type ResultFile = {
  readonly chunks: () => number;
  readonly rows: () => number;
  readonly bytes: () => number;
  /** The row after which it continues; null at the beginning. */
  readonly cursor: () => string | null;
  readonly isWhole: () => boolean;
  /** SHA-256 (hex) of the stored part. */
  readonly sha256: () => string;
  /**
   * Stores the next piece. False where a worker that had the job before has already stored another piece in this place:
   * that piece counts instead, and the file continues after it.
   */
  append(chunk: ResultChunk): Promise<boolean>;
};

/**
 * Opens the file of a run where the last attempt left it, or at its beginning. The stored part is read once more, because
 * the state of a digest cannot be stored; nothing else has to be remembered between attempts.
 */
export async function openResultFile(results: ResultStore, result: ResultRef): Promise<ResultFile> {
  const hash = createHash("sha256");
  let last: ResultChunk | null = null;
  let [chunks, rows, bytes] = [0, 0, 0];

  const add = (chunk: ResultChunk): void => {
    hash.update(chunk.bytes);
    last = { ...chunk, bytes: empty };
    chunks += 1;
    rows += chunk.rows;
    bytes += chunk.bytes.length;
  };

  for (let chunk = await results.get(result, 0); chunk !== null; chunk = await next(results, result, chunk, chunks)) {
    add(chunk);
  }

  return {
    chunks: () => chunks,
    rows: () => rows,
    bytes: () => bytes,
    cursor: () => last?.cursor ?? null,
    isWhole: () => last?.isLast ?? false,
    sha256: () => hash.copy().digest("hex"),
    append: async (chunk) => {
      const isNew = await results.put(result, chunks, chunk);
      const stored = isNew ? chunk : await results.get(result, chunks);
      if (stored === null)
        throw new Error(`Piece ${chunks} of the result of job ${result.jobId} was erased meanwhile.`);
      add(stored);
      // An equal piece is our own, stored by an attempt whose answer was lost.
      return isNew || Buffer.compare(stored.bytes, chunk.bytes) === 0;
    },
  };
}

const empty = new Uint8Array();

const next = (results: ResultStore, result: ResultRef, { isLast }: ResultChunk, index: number) =>
  isLast ? Promise.resolve(null) : results.get(result, index);
