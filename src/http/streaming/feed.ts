import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../../domain/unavailable.ts";
import { type Cursor, cursorText, lastWholeEntry } from "../../event-log/cursor.ts";
import { toEventAnswer } from "../../event-log/event-answer.ts";
import type { StoredEvent, WaybillEvent } from "../../event-log/event-log.ts";
import type { Live } from "../../history/live/live.ts";
import type { FeedRequest, FeedStep } from "../../history/live/read-feed.ts";
import { beginOfStream, heartbeat, moveOn, toServerSentEvent } from "./event-stream.ts";

/** The format in which a feed is written. */
export type FeedForm = {
  readonly begin: string;
  readonly event: (event: StoredEvent<WaybillEvent>) => string;
  /** Written while there is no event; `movedTo` is where a client would resume, null where the client knows it already. */
  readonly silence: (movedTo: number | null) => string;
};

export const asServerSentEvents: FeedForm = {
  begin: beginOfStream,
  event: (stored) => toServerSentEvent(stored.event.type, cursorText(stored), toEventAnswer(stored)),
  silence: (movedTo) => (movedTo === null ? heartbeat : moveOn(movedTo)),
};

/** An empty line is not a line of JSON: readers skip it. */
export const asLines: FeedForm = {
  begin: "",
  event: (entry) => `${JSON.stringify(toEventAnswer(entry))}\n`,
  silence: () => "\n",
};

export type FeedEnd = {
  /** Null for no limit. */
  readonly limit: number | null;
  /** The feed ends after so long without an event, once it has read the log to its end; null for never. */
  readonly waitMs: number | null;
};

/** Checked every few seconds, so that something is written every 15. */
const silenceMs = 10_000;
export const lookMs = 5000;

/**
 * The steps end when the signal aborts. A feed with an end throws then: its client would take a history that was cut off
 * for the whole one. The client of a feed without an end knows, and comes again.
 */
export async function* tellFeed(
  steps: AsyncIterable<FeedStep>,
  form: FeedForm,
  { limit, waitMs }: FeedEnd,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let known = 0;
  let saidAt = performance.now();
  let eventAt: number | null = null;
  if (form.begin !== "") yield form.begin;
  for await (const { events, position, isCaughtUp } of steps) {
    const now = performance.now();
    const written = events.slice(0, left);
    left -= written.length;
    if (written.length > 0) {
      yield written.map(form.event).join("");
      known = written.at(-1)?.sequence ?? known;
    } else if (now - saidAt >= silenceMs) {
      yield form.silence(position > known ? position : null);
      known = position;
    }
    if (written.length > 0 || now - saidAt >= silenceMs) saidAt = now;
    if (!isCaughtUp || written.length > 0) eventAt = now;
    eventAt ??= now;
    if (left === 0 || (isCaughtUp && waitMs !== null && now - eventAt >= waitMs)) return;
  }
  if (limit !== null || waitMs !== null) signal.throwIfAborted();
}

/** An answer that has begun can only break off: so long it waits for the first step, which may be refused. */
const beginMs = 500;

/** The same steps; throws where the first of them fails at once, as with a part of the log that is archived elsewhere. */
export async function begun(steps: AsyncIterable<FeedStep>, signal: AbortSignal): Promise<AsyncIterable<FeedStep>> {
  const reader = steps[Symbol.asyncIterator]();
  // The client may go before the answer is read, which then never ends the reader.
  signal.addEventListener("abort", () => void reader.return?.().catch(() => {}), { once: true });
  const first = takeFirst(reader);
  const waiting = new AbortController();
  await Promise.race([first, pause(beginMs, undefined, { signal: waiting.signal })]).finally(() => waiting.abort());
  return goingOn(first, reader);
}

/** Up to the first that has read something: one before may only have passed what is no event of the tenant. */
async function takeFirst(reader: AsyncIterator<FeedStep>): Promise<readonly FeedStep[]> {
  const first = await reader.next();
  if (first.done === true) return [];
  if (first.value.events.length > 0 || first.value.isCaughtUp) return [first.value];
  const second = await reader.next();
  return second.done === true ? [first.value] : [first.value, second.value];
}

async function* goingOn(
  taken: Promise<readonly FeedStep[]>,
  reader: AsyncIterator<FeedStep>,
): AsyncGenerator<FeedStep> {
  try {
    yield* await taken;
    for (let step = await reader.next(); step.done !== true; step = await reader.next()) yield step.value;
  } finally {
    await reader.return?.();
  }
}

export type FeedPage = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** Where the next page begins: after the last event of a full page, else after everything that was looked through. */
  readonly next: Cursor;
  /** The log already holds more. */
  readonly hasMore: boolean;
};

/** Time to look through events of other tenants: then the page answers how far it came. */
const patienceMs = 5000;

/** Up to `limit` events. Where there are none it waits for the first one, at most `waitMs`. */
export async function readFeedPage(
  live: Live,
  request: FeedRequest,
  { limit, waitMs }: { readonly limit: number; readonly waitMs: number },
  signal: AbortSignal,
): Promise<FeedPage> {
  const reading = new AbortController();
  const stop = (): void => reading.abort();
  signal.addEventListener("abort", stop, { once: true });
  let timer = setTimeout(stop, patienceMs);
  const events: StoredEvent<WaybillEvent>[] = [];
  const begin = lastWholeEntry(request.after);
  let position = begin;
  let isCaughtUp = false;
  try {
    for await (const step of live.feed(request, reading.signal, waitMs)) {
      events.push(...step.events);
      position = step.position;
      if (step.isCaughtUp && !isCaughtUp) {
        clearTimeout(timer);
        timer = setTimeout(stop, waitMs);
        isCaughtUp = true;
      }
      if (events.length >= limit || (isCaughtUp && (events.length > 0 || waitMs === 0))) break;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
  if (!isCaughtUp && position === begin) throw new Unavailable("The log delivered nothing to a feed.");
  const isFull = events.length >= limit;
  const page = events.slice(0, limit);
  const last = page.at(-1);
  return {
    events: page,
    next: isFull && last !== undefined ? last : { sequence: position, index: null },
    hasMore: events.length > limit || !isCaughtUp,
  };
}
