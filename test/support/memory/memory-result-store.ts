import { decodeChunk, encodeChunk } from "../../../src/content/jetstream-result-store.ts";
import type { ResultRef, ResultStore } from "../../../src/content/result-store.ts";

/** Keeps files as long as the process lives. */
export function createMemoryResultStore(maxBytes = 1_000_000): ResultStore {
  const stored = new Map<string, Uint8Array>();
  const keyOf = ({ tenant, jobId, run }: ResultRef, index: number): string => `${tenant}/${jobId}/${run}/${index}`;
  return {
    maxBytes,
    put: async (result, index, chunk) => {
      const key = keyOf(result, index);
      if (stored.has(key)) return false;
      stored.set(key, encodeChunk(chunk));
      return true;
    },
    get: async (result, index) => {
      const found = stored.get(keyOf(result, index));
      return found === undefined ? null : decodeChunk(found);
    },
    ofTenant: async (tenant) => {
      const found = new Map<string, ResultRef>();
      for (const key of stored.keys()) {
        const [owner = "", jobId = "", run] = key.split("/");
        if (owner === tenant) found.set(`${jobId}/${run}`, { tenant, jobId, run: Number(run) });
      }
      return [...found.values()];
    },
    piecesOf: async ({ tenant, jobId }) =>
      [...stored.keys()].flatMap((key) => {
        const [owner, of, run, index] = key.split("/");
        return owner === tenant && of === jobId ? [{ run: Number(run), index: Number(index) }] : [];
      }),
    erase: async (result, index) => {
      stored.delete(keyOf(result, index));
    },
  };
}
