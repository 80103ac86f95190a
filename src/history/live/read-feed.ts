import { type Cursor, isBehind, lastWholeEntry } from "../../event-log/cursor.ts";
import type { EventLog, LogEvent, StoredEvent, WaybillEvent } from "../../event-log/event-log.ts";
import { type Stretch, type TenantStretches, wholeRest } from "../../event-log/tenant-stretches.ts";
import type { PastReader } from "./past-readers.ts";
import { createNotifier, endOfPast, type Tail } from "./tail.ts";

export type FeedRequest = {
  readonly tenant: string;
  /** Where the feed begins. */
  readonly after: Cursor;
  /** The types of events; empty for all. */
  readonly types: readonly WaybillEvent["type"][];
  /** Admits the feed to the past, also later where the feed falls behind. */
  readonly past: PastReader;
};

export type FeedStep = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** The log was looked through up to here: the place to continue, even where no event matched. */
  readonly position: number;
  /** The feed has delivered everything that was in the log when it began. */
  readonly isCaughtUp: boolean;
};

/** A past this short needs no turn: a client at the head of the log reads it page by page. */
const atTheHead = 500;
/** Read in one go: other work of the process waits for it. */
const maxEvents = 200;
/** While the feed waits for its turn, it yields an empty step this often to show that it is alive. */
const stillThereMs = 5000;

/** Whether a feed that begins there reads the past, for which it must be let in. */
export const isPast = (afterSequence: number, lastSequence: number): boolean =>
  lastSequence - afterSequence > atTheHead;

export type FeedParts = { readonly log: EventLog; readonly tail: Tail; readonly stretches: TenantStretches };

/**
 * A tenant's events in the order of the log, each once, until the signal aborts: from the log while there is a past to
 * read, at the reader's pace and when it is its turn (see past-readers.ts), then as they are appended. A step may hold no
 * event; one comes at least every `idleMs`. The log is read without a filter, and the feed picks the tenant's events here
 * (see jetstream-follow.ts); stretches of a long past without an event of the tenant are not read.
 */
export async function* readFeed(
  { log, tail, stretches }: FeedParts,
  { tenant, after, types, past }: FeedRequest,
  signal: AbortSignal,
  idleMs: number,
): AsyncGenerator<FeedStep> {
  const wanted = new Set<string>(types);
  const isWanted = (event: LogEvent): event is StoredEvent<WaybillEvent> =>
    "event" in event &&
    event.tenant === tenant &&
    (wanted.size === 0 || wanted.has(event.event.type)) &&
    isBehind(after, event);

  let position = lastWholeEntry(after);
  while (!signal.aborted) {
    const subscription = await subscribe(tail, tenant, signal);
    try {
      const end = await endOfPast(log, tail);
      // Of the log as it is then: the index goes on meanwhile, and one that is ahead of its log counts as unknown.
      const nextStretch = async (from: number): Promise<Stretch> => stretches.next(tenant, from, await log.state());
      for await (const read of readPast(log, past, { after: position, end, nextStretch }, signal)) {
        position = read.position;
        if (position >= end) past.leave();
        yield { events: read.events.filter(isWanted), position, isCaughtUp: position >= end };
      }
      if (signal.aborted) return;
      yield { events: [], position, isCaughtUp: true };
      while (!signal.aborted) {
        const heard = await subscription.next(idleMs);
        if (heard.events.length === 0 && subscription.isLost()) break;
        const events = heard.events.filter((event) => event.sequence > position && isWanted(event));
        position = Math.max(position, heard.position);
        yield { events, position, isCaughtUp: true };
      }
    } finally {
      past.leave();
      subscription.leave();
    }
  }
}

type Past = {
  readonly after: number;
  readonly end: number;
  readonly nextStretch: (afterSequence: number) => Promise<Stretch>;
};

type PastStep = { readonly events: readonly LogEvent[]; readonly position: number };

/** The events between two positions that may be the tenant's; some steps have none. */
async function* readPast(
  log: EventLog,
  past: PastReader,
  { after, end, nextStretch }: Past,
  signal: AbortSignal,
): AsyncGenerator<PastStep> {
  let position = after;
  while (position < end) {
    const stretch = isPast(position, end) ? await nextStretch(position) : wholeRest(position);
    const skippedTo = Math.min(stretch.first - 1, end);
    if (skippedTo > position) {
      position = skippedTo;
      yield { events: [], position };
    }
    const before = position;
    for await (const step of readStretch(log, past, position, end, signal)) {
      position = step.position;
      yield step;
      if (position >= stretch.last) break;
    }
    // The signal, or a log that has lost its end.
    if (signal.aborted || position === before) return;
  }
}

/** Reads on from a position; the last step ends at the end that is given, or at the log's. */
async function* readStretch(
  log: EventLog,
  past: PastReader,
  afterSequence: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<PastStep> {
  if (afterSequence >= end) return;
  const batches = log.follow({ afterSequence, maxEvents, signal })[Symbol.asyncIterator]();
  const next = () => batches.next();
  try {
    for (let position = afterSequence; position < end; ) {
      const reading = isPast(position, end) ? past.read(next) : next();
      for (const isThere = hasSettled(reading); !(await isThere(stillThereMs)); ) yield { events: [], position };
      const read = await reading;
      if (read === null || read.done) return;
      // The tail delivers the events after the end.
      position = Math.min(read.value.at(-1)?.sequence ?? position, end);
      yield { events: read.value.filter(({ sequence }) => sequence <= end), position };
    }
  } finally {
    await batches.return?.();
  }
}

/** Waits for the work to end, well or not, or for the time to pass; returns whether it has ended. */
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
  /** The position up to which the tenant's events have been taken. */
  readonly position: number;
};

/** Events that one feed has heard and not yet taken. The buffer is bounded: a client that falls behind reads the log instead. */
type FeedSubscription = {
  /** The events since the last call; empty where the time was up, the signal aborted, or the subscription is lost. */
  next(waitMs: number): Promise<Heard>;
  /** The buffer overflowed: take what it holds, then begin anew. */
  isLost(): boolean;
  leave(): void;
};

const maxHeard = 1000;

/** `next` throws the failure of the tail. */
async function subscribe(tail: Tail, tenant: string, signal: AbortSignal): Promise<FeedSubscription> {
  const notifier = createNotifier(signal);
  let heard: StoredEvent<WaybillEvent>[] = [];
  let isLost = false;
  let failure: { readonly cause: unknown; readonly position: number } | null = null;
  const leave = await tail.listen(
    { tenant, jobId: null },
    {
      hear: (entry) => {
        isLost ||= heard.length >= maxHeard;
        if (!isLost) heard.push(entry);
        notifier.notify();
      },
      broken: (cause) => {
        // The tail's own moves on once others have begun it anew.
        failure = { cause, position: tail.position() };
        notifier.notify();
      },
    },
  );
  return {
    next: async (waitMs) => {
      if (heard.length === 0 && !isLost && failure === null) await notifier.wait(waitMs);
      if (heard.length === 0 && failure !== null) throw failure.cause;
      const events = heard;
      heard = [];
      if (!isLost) return { events, position: failure?.position ?? tail.position() };
      // The buffer may have ended inside an entry: that entry is read again, whole.
      const position = (events.at(-1)?.sequence ?? 1) - 1;
      return { events: events.filter(({ sequence }) => sequence <= position), position };
    },
    isLost: () => isLost,
    leave,
  };
}
