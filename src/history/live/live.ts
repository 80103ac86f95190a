import type { ContentStore } from "../../content/content-store.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { type TenantStretches, unknownStretches } from "../../event-log/tenant-stretches.ts";
import { createOpenStreams, type OpenStreams, type StreamLimits } from "./open-streams.ts";
import { createPastReaders, type PastLimits, type PastReaders } from "./past-readers.ts";
import { type FeedRequest, type FeedStep, readFeed } from "./read-feed.ts";
import { createTail } from "./tail.ts";
import { type JobWatch, watchJob } from "./watch-job.ts";
import { type MailingWatch, watchMailing } from "./watch-mailing.ts";

/** Shows events while they happen: from the log alone, so also while no read model can be reached. */
export interface Live {
  readonly streams: Pick<OpenStreams, "open" | "count">;
  readonly past: PastReaders;
  /** See watchJob. The caller must leave it in the end. */
  watch(job: JobRef, afterSequence: number | null, signal: AbortSignal): Promise<JobWatch | null>;
  /** See watchMailing. The signal ends it. */
  watchMailing(mailing: JobRef, seen: number | null, signal: AbortSignal): Promise<MailingWatch | null>;
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

export type LiveParts = {
  readonly log: EventLog;
  /** The same log as it is shared with the other followers of this process. */
  readonly followed?: EventLog;
  readonly contentStore: ContentStore;
  readonly stretches?: TenantStretches;
  /** Gets the failure that broke the streams off. */
  readonly report: (failure: unknown) => void;
  readonly limits?: StreamLimits;
  readonly pastLimits?: PastLimits;
};

export function createLive(parts: LiveParts): Live {
  const { log, contentStore, report, followed = log, stretches = unknownStretches } = parts;
  const { limits = defaultLimits, pastLimits = usualPast } = parts;
  const tail = createTail(followed, report);
  const streams = createOpenStreams(limits);
  return {
    streams,
    past: createPastReaders(pastLimits),
    watch: (job, afterSequence, signal) => watchJob({ log, contentStore, tail }, job, afterSequence, signal),
    watchMailing: (mailing, seen, signal) => watchMailing({ log, contentStore, tail }, mailing, seen, signal),
    feed: (request, signal, idleMs) => readFeed({ log, tail, stretches }, request, signal, idleMs),
    listeners: tail.listeners,
    close: () => {
      streams.close();
      tail.close();
    },
  };
}
