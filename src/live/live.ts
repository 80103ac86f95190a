import type { ContentStore } from "../content/content-store.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { createOpenStreams, type OpenStreams, type StreamLimits } from "./open-streams.ts";
import { createPastReaders, type PastLimits, type PastReaders } from "./past-readers.ts";
import { type FeedRequest, type FeedStep, readFeed } from "./read-feed.ts";
import { createTail } from "./tail.ts";
import { type JobWatch, watchJob } from "./watch-job.ts";

/** Shows events while they happen: from the log alone, so also while no read model can be reached. */
export interface Live {
  readonly streams: Pick<OpenStreams, "open" | "count">;
  readonly past: PastReaders;
  /** See watchJob. The caller must leave it in the end. */
  watch(job: JobRef, afterSequence: number | null, signal: AbortSignal): Promise<JobWatch | null>;
  /** See readFeed. */
  feed(request: FeedRequest, signal: AbortSignal, idleMs: number): AsyncIterable<FeedStep>;
  /** How many watchers and feeds are open at the moment. */
  listeners(): number;
  /** Ends all of them at once. */
  close(): void;
}

/** A stream costs a socket, some kilobytes, and a part of the work of every event that it receives. */
export const defaultLimits: StreamLimits = { inProcess: 1000, ofTenant: 100 };

/** Readers take turns: a reader of the past that has had its share lets in another one of its tenant. */
export const usualPast: PastLimits = { ofTenant: 2, patienceMs: 5000, sliceMs: 5000, stallMs: 1000 };

/** `followed` is the log as it is shared with the other followers of this process. */
export function createLive(
  log: EventLog,
  contentStore: ContentStore,
  report: (failure: unknown) => void,
  limits: StreamLimits = defaultLimits,
  past: PastLimits = usualPast,
  followed = log,
): Live {
  const tail = createTail(followed, report);
  const streams = createOpenStreams(limits);
  return {
    streams,
    past: createPastReaders(past),
    watch: (job, afterSequence, signal) => watchJob({ log, contentStore, tail }, job, afterSequence, signal),
    feed: (request, signal, idleMs) => readFeed(log, tail, request, signal, idleMs),
    listeners: tail.listeners,
    close: () => {
      streams.close();
      tail.close();
    },
  };
}
