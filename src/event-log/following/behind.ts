import type { LogEvent } from "../event-log.ts";

const behindAfterMs = 1000;

/**
 * Whether the last of these events happened long before the present, so that its reader is behind, and more events wait.
 * Where the clocks of two machines differ by more, a reader that is not counts as behind, or the other way round.
 */
export function isBehind(events: readonly LogEvent[]): boolean {
  const last = events.findLast((event) => "event" in event);
  return last !== undefined && Date.now() - Date.parse(last.event.at) > behindAfterMs;
}
