import type { Place } from "./event-log.ts";

/**
 * Where a batch ends that begins with the event at `first`: it has at most `maxEvents` events, or those of one entry, and
 * never ends inside an entry. The events end with a whole entry.
 */
export function endOfBatch(events: readonly Place[], first: number, maxEvents: number): number {
  const isInside = (end: number): boolean => end < events.length && events[end - 1]?.sequence === events[end]?.sequence;
  let end = Math.min(first + maxEvents, events.length);
  while (end > first && isInside(end)) end -= 1;
  if (end > first) return end;
  end = first + 1;
  while (isInside(end)) end += 1;
  return end;
}

/** The same events in batches. */
export function* inBatches<Event extends Place>(
  events: readonly Event[],
  maxEvents: number,
): Generator<readonly Event[]> {
  for (let first = 0; first < events.length; ) {
    const end = endOfBatch(events, first, maxEvents);
    yield events.slice(first, end);
    first = end;
  }
}
