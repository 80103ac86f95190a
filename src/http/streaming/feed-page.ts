import { Unavailable } from "../../domain/unavailable.ts";
import type { StoredEvent, WaybillEvent } from "../../event-log/event-log.ts";
import type { Live } from "../../live/live.ts";
import type { FeedRequest } from "../../live/read-feed.ts";

export type FeedPage = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** Where the next page begins: behind the last event of a full page, else behind all that was looked through. */
  readonly position: number;
  /** There is more in the log already. */
  readonly hasMore: boolean;
};

/** For looking through what is not the tenant's: then the page says how far it came. */
const patienceMs = 5000;

/** Up to `limit` events. Where there are none it waits for the first, `waitMs` at most. */
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
  let position = request.afterSequence;
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
  if (!isCaughtUp && position === request.afterSequence) throw new Unavailable("The log gave nothing to a feed.");
  const isFull = events.length >= limit;
  const page = events.slice(0, limit);
  return {
    events: page,
    position: isFull ? (page.at(-1)?.sequence ?? position) : position,
    hasMore: events.length > limit || !isCaughtUp,
  };
}
