import type { EventLog, LogEntry, StoredEvent, WaybillEvent } from "../event-log/event-log.ts";
import type { PastReader } from "./past-readers.ts";
import { createNotifier, type Tail } from "./tail.ts";

export type FeedRequest = {
  readonly tenant: string;
  readonly afterSequence: number;
  /** Empty for all. */
  readonly types: readonly WaybillEvent["type"][];
  /** By which it reads the past, also later where it falls behind. */
  readonly past: PastReader;
};

export type FeedStep = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** So far the log was looked through: where to go on, also where none of it was asked for. */
  readonly position: number;
  /** All that was in the log when the feed was begun has been given. */
  readonly isCaughtUp: boolean;
};

/** So little of the past is not worth waiting for one's turn: a client at the head of the log asks for it page by page. */
const atTheHead = 500;
/** Read in one go: other work of the process waits for it. */
const maxEvents = 200;
/** Waiting for its turn it says now and then that it is still there. */
const stillThereMs = 5000;

/** Whether a feed that begins there reads the past, for which it has to be let in. */
export const isPast = (afterSequence: number, lastSequence: number): boolean =>
  lastSequence - afterSequence > atTheHead;

/**
 * A tenant's events in the order of the log, each once, until the signal aborts: from the log as long as there is a
 * past to read, at the pace of whoever reads and when it is its turn (see past-readers.ts), then as they are appended.
 * A step may hold no event; at the latest one comes every `idleMs`. The log is read without a filter and the tenant picked out here (see jetstream-follow.ts).
 */
export async function* readFeed(
  log: EventLog,
  tail: Tail,
  { tenant, afterSequence, types, past }: FeedRequest,
  signal: AbortSignal,
  idleMs: number,
): AsyncGenerator<FeedStep> {
  const wanted = new Set<string>(types);
  const isWanted = (entry: LogEntry): entry is StoredEvent<WaybillEvent> =>
    "event" in entry && entry.tenant === tenant && (wanted.size === 0 || wanted.has(entry.event.type));

  let position = afterSequence;
  while (!signal.aborted) {
    const subscription = await subscribe(tail, tenant, signal);
    try {
      const end = (await log.state()).lastSequence;
      for await (const batch of readPast(log, past, position, end, signal)) {
        position = batch.at(-1)?.sequence ?? position;
        if (position >= end) past.leave();
        yield { events: batch.filter(isWanted), position, isCaughtUp: position >= end };
      }
      if (signal.aborted) return;
      yield { events: [], position, isCaughtUp: true };
      while (!signal.aborted) {
        const heard = await subscription.next(idleMs);
        if (heard.events.length === 0 && subscription.isLost()) break;
        const events = heard.events.filter((entry) => entry.sequence > position && isWanted(entry));
        position = Math.max(position, heard.position);
        yield { events, position, isCaughtUp: true };
      }
    } finally {
      past.leave();
      subscription.leave();
    }
  }
}

/** The batches between two places, some of them empty; the last one ends at the second place or where the log does. */
async function* readPast(
  log: EventLog,
  past: PastReader,
  afterSequence: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<readonly LogEntry[]> {
  if (afterSequence >= end) return;
  const batches = log.follow({ afterSequence, maxEvents, signal })[Symbol.asyncIterator]();
  const next = () => batches.next();
  try {
    for (let position = afterSequence; position < end; ) {
      const reading = isPast(position, end) ? past.read(next) : next();
      for (const isThere = hasSettled(reading); !(await isThere(stillThereMs)); ) yield [];
      const read = await reading;
      if (read === null || read.done) return;
      position = read.value.at(-1)?.sequence ?? position;
      yield read.value.filter(({ sequence }) => sequence <= end);
    }
  } finally {
    await batches.return?.();
  }
}

/** Tells whether it has come to its end, well or not, once it has or the time is up. */
function hasSettled(promise: Promise<unknown>): (withinMs: number) => Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return async (withinMs) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, withinMs, false);
    });
    return await Promise.race([settled, late]).finally(() => clearTimeout(timer));
  };
}

type Heard = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** So far the tenant's events are among those that were taken. */
  readonly position: number;
};

/** What one feed has heard and not yet taken. It is bounded: a client that does not keep up reads from the log instead. */
type FeedSubscription = {
  /** What has come since the last call; nothing where the time was up, the signal came, or the subscription is lost. */
  next(waitMs: number): Promise<Heard>;
  /** Something came that the subscription had no room for: take what is there, then begin anew. */
  isLost(): boolean;
  leave(): void;
};

const maxHeard = 1000;

/** `next` throws what broke the tail. */
async function subscribe(tail: Tail, tenant: string, signal: AbortSignal): Promise<FeedSubscription> {
  const notifier = createNotifier(signal);
  let heard: StoredEvent<WaybillEvent>[] = [];
  let isLost = false;
  let failure: unknown = null;
  const leave = await tail.listen(
    { tenant, jobId: null },
    {
      hear: (entry) => {
        isLost ||= heard.length >= maxHeard;
        if (!isLost) heard.push(entry);
        notifier.notify();
      },
      broken: (reason) => {
        failure = reason;
        notifier.notify();
      },
    },
  );
  return {
    next: async (waitMs) => {
      if (heard.length === 0 && !isLost && failure === null) await notifier.wait(waitMs);
      if (heard.length === 0 && failure !== null) throw failure;
      const events = heard;
      heard = [];
      return { events, position: isLost ? (events.at(-1)?.sequence ?? 0) : tail.position() };
    },
    isLost: () => isLost,
    leave,
  };
}
