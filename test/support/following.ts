import type { EventLog, LogEvent } from "../../src/event-log/event-log.ts";

type Following = {
  readonly batches: AsyncIterable<readonly LogEvent[]>;
  readonly stop: () => void;
};

/** Follows a log until it is stopped. */
export function followFrom(log: EventLog, afterSequence: number, maxEvents = 100): Following {
  const ending = new AbortController();
  return {
    batches: log.follow({ afterSequence, maxEvents, signal: ending.signal }),
    stop: () => ending.abort(),
  };
}

/** Follows a log until enough was read, and stops. */
export async function readOn(
  log: EventLog,
  afterSequence: number,
  isEnough: (read: readonly LogEvent[]) => boolean,
  maxEvents = 100,
): Promise<readonly LogEvent[]> {
  const read: LogEvent[] = [];
  const following = followFrom(log, afterSequence, maxEvents);
  for await (const batch of following.batches) {
    read.push(...batch);
    if (isEnough(read)) following.stop();
  }
  return read;
}
