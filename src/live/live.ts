import type { ContentStore } from "../content/content-store.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { createOpenStreams, type OpenStreams, type StreamLimits } from "./open-streams.ts";
import { createPastReaders, type PastLimits, type PastReaders } from "./past-readers.ts";
import { type FeedRequest, type FeedStep, readFeed } from "./read-feed.ts";
import { createTail } from "./tail.ts";
import { type JobWatch, watchJob } from "./watch-job.ts";

/** What happens, told while it happens: from the log alone, so also while no read model can be asked. */
export interface Live {
  readonly streams: Pick<OpenStreams, "open" | "count">;
  readonly past: PastReaders;
  /** See watchJob. The caller leaves it in the end. */
  watch(job: JobRef, afterSequence: number | null, signal: AbortSignal): Promise<JobWatch | null>;
  /** See readFeed. */
  feed(request: FeedRequest, signal: AbortSignal, idleMs: number): AsyncIterable<FeedStep>;
  /** How many watch and read on at the moment. */
  listeners(): number;
  /** Ends everything that goes on, at once. */
  close(): void;
}

/** A stream costs a socket, some kilobytes, and a part of every event that it is told. */
export const defaultLimits: StreamLimits = { inProcess: 1000, ofTenant: 100 };

/** In turn: a reader of the past that has had its share lets another one of its tenant in. */
export const usualPast: PastLimits = { ofTenant: 2, patienceMs: 5000, sliceMs: 5000, stallMs: 1000 };

export function createLive(
  log: EventLog,
  contentStore: ContentStore,
  report: (failure: unknown) => void,
  limits: StreamLimits = defaultLimits,
  past: PastLimits = usualPast,
): Live {
  const tail = createTail(log, report);
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
