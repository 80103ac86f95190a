import { createHash } from "node:crypto";
import type { ResultChunk, ResultRef, ResultStore } from "../../content/result-store.ts";

/** A file while it is written: what is stored of it, and where it goes on. */
export type ResultFile = {
  readonly chunks: () => number;
  readonly rows: () => number;
  readonly bytes: () => number;
  /** After which row it goes on; null at the beginning. */
  readonly cursor: () => string | null;
  readonly isWhole: () => boolean;
  /** SHA-256 (hex) of what is stored. */
  readonly sha256: () => string;
  /**
   * Stores the next piece. False where another one was there already, of a worker that had the job before: it counts
   * instead, and the file goes on behind that.
   */
  append(chunk: ResultChunk): Promise<boolean>;
};

/**
 * Takes up the file of a run where it was left, at its beginning if there is none. What is stored is read once more,
 * because a digest cannot be put aside; nothing else has to be remembered from one attempt to the next.
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
      // One that is the same is our own, stored by an attempt whose answer was lost.
      return isNew || Buffer.compare(stored.bytes, chunk.bytes) === 0;
    },
  };
}

const empty = new Uint8Array();

const next = (results: ResultStore, result: ResultRef, { isLast }: ResultChunk, index: number) =>
  isLast ? Promise.resolve(null) : results.get(result, index);
