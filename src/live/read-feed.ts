import type { EventLog, LogEntry, StoredEvent, WaybillEvent } from "../event-log/event-log.ts";
import { takeSeat } from "./seat.ts";
import type { Tail } from "./tail.ts";

export type FeedRequest = {
  readonly tenant: string;
  readonly afterSequence: number;
  /** Empty for all. */
  readonly types: readonly WaybillEvent["type"][];
};

export type FeedStep = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** So far the log was looked through: where to go on, also where none of it was asked for. */
  readonly position: number;
  /** All that was in the log when the feed was begun has been given. */
  readonly isCaughtUp: boolean;
};

const maxEvents = 500;

/**
 * A tenant's events in the order of the log, each once, until the signal aborts: from the log as long as there is a
 * past to read, at the pace of whoever reads, then as they are appended. A step may hold no event; at the latest one
 * comes every `idleMs`. The log is read without a filter and the tenant picked out here (see jetstream-follow.ts).
 */
export async function* readFeed(
  log: EventLog,
  tail: Tail,
  { tenant, afterSequence, types }: FeedRequest,
  signal: AbortSignal,
  idleMs: number,
): AsyncGenerator<FeedStep> {
  const wanted = new Set<string>(types);
  const isWanted = (entry: LogEntry): entry is StoredEvent<WaybillEvent> =>
    "event" in entry && entry.tenant === tenant && (wanted.size === 0 || wanted.has(entry.event.type));

  let position = afterSequence;
  while (!signal.aborted) {
    const seat = await takeSeat(tail, tenant, signal);
    try {
      const end = (await log.state()).lastSequence;
      for await (const batch of readPast(log, position, end, signal)) {
        position = batch.at(-1)?.sequence ?? position;
        yield { events: batch.filter(isWanted), position, isCaughtUp: position >= end };
      }
      if (signal.aborted) return;
      yield { events: [], position, isCaughtUp: true };
      while (!signal.aborted) {
        const heard = await seat.next(idleMs);
        if (heard.events.length === 0 && seat.isLost()) break;
        const events = heard.events.filter((entry) => entry.sequence > position && isWanted(entry));
        position = Math.max(position, heard.position);
        yield { events, position, isCaughtUp: true };
      }
    } finally {
      seat.leave();
    }
  }
}

/** The batches between two places, none of them empty; the last one ends at the second place or where the log does. */
async function* readPast(
  log: EventLog,
  afterSequence: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<readonly LogEntry[]> {
  if (afterSequence >= end) return;
  for await (const batch of log.follow({ afterSequence, maxEvents, signal })) {
    const upToEnd = batch.filter(({ sequence }) => sequence <= end);
    if (upToEnd.length > 0) yield upToEnd;
    if ((batch.at(-1)?.sequence ?? 0) >= end) return;
  }
}
