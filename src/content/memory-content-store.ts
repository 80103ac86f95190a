import type { JobRef } from "../event-log/event-log.ts";
import type { ContentStore } from "./content-store.ts";

const subjectOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;

/** Keeps content as long as the process lives. */
export function createMemoryContentStore(maxBytes = 1_000_000): ContentStore {
  const stored = new Map<string, Uint8Array>();
  return {
    maxBytes,
    put: async (job, content) => {
      if (stored.has(subjectOf(job))) return false;
      stored.set(subjectOf(job), content.slice());
      return true;
    },
    get: async (job) => stored.get(subjectOf(job))?.slice() ?? null,
  };
}
