import type { ContentStore, JobContent } from "../../src/content/content-store.ts";
import { decodeContent } from "../../src/content/encode-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { ContentReader } from "../projector.ts";

type Kept = { readonly content: JobContent; readonly bytes: number; readonly readAt: number };

/** A limit on age: this process may never learn of an erasure that another process handled. */
const keptMs = 60_000;

/**
 * Reads the content of jobs and caches the most recently used, up to `maxBytes` of stored bytes: the outcomes of a
 * mailing come in many batches, and each needs the same addresses.
 */
export function createContentReader(store: ContentStore, maxBytes = 4_000_000): ContentReader {
  // A map keeps the order in which its keys were set: the first key is the least recently used.
  const kept = new Map<string, Kept>();
  let keptBytes = 0;
  /** Several projections ask for the same content at about the same time. */
  const reading = new Map<string, Promise<JobContent | null>>();

  const forget = (key: string): void => {
    keptBytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };

  const keep = (key: string, entry: Kept): void => {
    forget(key);
    kept.set(key, entry);
    keptBytes += entry.bytes;
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxBytes) return;
      forget(oldest);
    }
  };

  const load = async (job: JobRef): Promise<Omit<Kept, "readAt"> | null> => {
    const stored = await store.get(job).catch((cause) => {
      throw new Unavailable(`The content of job ${job.jobId} cannot be read.`, { cause });
    });
    return stored === null ? null : { content: decode(job, stored), bytes: stored.byteLength };
  };

  const read = (job: JobRef): Promise<JobContent | null> => {
    const key = keyOf(job);
    const known = kept.get(key);
    if (known !== undefined && performance.now() - known.readAt < keptMs) {
      keep(key, known);
      return Promise.resolve(known.content);
    }
    const asked = reading.get(key);
    if (asked !== undefined) return asked;
    const loading = load(job)
      .then((loaded) => {
        // What was forgotten meanwhile may be the state before an erasure.
        if (reading.get(key) === loading) {
          if (loaded === null) forget(key);
          else keep(key, { ...loaded, readAt: performance.now() });
        }
        return loaded?.content ?? null;
      })
      .finally(() => {
        if (reading.get(key) === loading) reading.delete(key);
      });
    reading.set(key, loading);
    return loading;
  };
  const forgetJob = (job: JobRef): void => {
    const key = keyOf(job);
    forget(key);
    reading.delete(key);
  };
  return Object.assign(read, { forget: forgetJob });
}

const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;

/** Without its cause, whose message would quote the content. */
function decode({ jobId }: JobRef, stored: Uint8Array): JobContent {
  try {
    return decodeContent(stored);
  } catch {
    throw new Error(`The stored content of job ${jobId} cannot be decoded.`);
  }
}
