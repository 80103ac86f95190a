import type { AttachmentStore, ContentStore } from "../../../src/content/content-store.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";

const subjectOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;

/** Keeps content as long as the process lives. */
export function createMemoryContentStore(maxBytes = 1_000_000): ContentStore {
  const stored = new Map<string, Uint8Array>();
  return {
    maxBytes,
    attachments: createMemoryAttachmentStore(),
    put: async (job, content) => {
      if (stored.has(subjectOf(job))) return false;
      stored.set(subjectOf(job), content.slice());
      return true;
    },
    get: async (job) => stored.get(subjectOf(job))?.slice() ?? null,
    rewrite: async (job, change) => {
      const content = stored.get(subjectOf(job));
      if (content !== undefined) stored.set(subjectOf(job), change(content.slice()));
    },
    erase: async (job) => {
      stored.delete(subjectOf(job));
    },
  };
}

function createMemoryAttachmentStore(): AttachmentStore {
  const stored = new Map<string, Buffer>();
  const keyOf = (job: JobRef, sha256: string): string => `${subjectOf(job)}/${sha256}`;
  return {
    put: async (job, sha256, bytes) => {
      stored.set(keyOf(job, sha256), Buffer.from(bytes));
    },
    get: async (job, sha256) => stored.get(keyOf(job, sha256)) ?? null,
    erase: async (job, sha256) => {
      stored.delete(keyOf(job, sha256));
    },
  };
}
