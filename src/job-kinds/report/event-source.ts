import { Unavailable } from "../../domain/unavailable.ts";
import { beginOfLog, cursorText, isBehind, lastWholeEntry, readCursor } from "../../event-log/cursor.ts";
import {
  type EventLog,
  isOfTenant,
  type LogEvent,
  type StoredEvent,
  type TenantEvent,
} from "../../event-log/event-log.ts";
import { type TenantStretches, unknownStretches } from "../../event-log/tenant-stretches.ts";
import type { ReportRow, ReportSource, ReportSpan } from "./report-source.ts";

const maxEvents = 500;

/**
 * The tenant's events in the order of the log, which is read without a filter and filtered here (see
 * jetstream-follow.ts); stretches without an event of the tenant are not read. They end with the event before the one that
 * began the run.
 */
export const createEventSource = (
  log: EventLog,
  stretches = unknownStretches,
): ReportSource<StoredEvent<TenantEvent>> => ({
  reaches: async (sequence) => (await log.state()).lastSequence >= sequence,
  read: (span, after, signal) => readEvents(log, stretches, span, after, signal),
});

async function* readEvents(
  log: EventLog,
  stretches: TenantStretches,
  span: ReportSpan,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<readonly ReportRow<StoredEvent<TenantEvent>>[]> {
  const end = span.began.sequence - 1;
  const begin = after === null ? beginOfLog : (readCursor(after) ?? beginOfLog);
  const isWanted = isOf(span);
  let position = lastWholeEntry(begin);
  while (position < end) {
    const { first, last } = await stretches.next(span.tenant, position, await log.state());
    if (first > end) return;
    const afterSequence = Math.max(position, first - 1);
    let isRead = false;
    for await (const batch of log.follow({ afterSequence, maxEvents, signal })) {
      const wanted = batch.filter(
        (event): event is StoredEvent<TenantEvent> => isBehind(begin, event) && isWanted(event),
      );
      yield wanted.map((row) => ({ cursor: cursorText(row), row }));
      position = batch.at(-1)?.sequence ?? position;
      isRead = position >= Math.min(last, end);
      if (isRead) break;
    }
    // A read that stops in the middle must not pass for the end.
    if (!isRead) throw new Unavailable("The log was not read to where the report ends.");
  }
}

const isOf =
  ({ tenant, from, to, began }: ReportSpan) =>
  (entry: LogEvent): entry is StoredEvent<TenantEvent> =>
    isOfTenant(entry) &&
    entry.tenant === tenant &&
    entry.sequence < began.sequence &&
    (from === null || entry.event.at >= from) &&
    (to === null || entry.event.at < to);
