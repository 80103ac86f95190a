import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { ContentReader, ProjectionTarget, Projector } from "../projector.ts";
import { insertRows } from "../write-rows.ts";
import { type LogRow, toLogRow } from "./rows.ts";
import { logsTable, logTableDefinitions, logViewDefinitions } from "./tables.ts";

/** What happened to each recipient, attempt by attempt: history, so outcomes without effect are in it too. */
export const logsProjector: Projector = {
  name: "logs",
  version: 1,
  tables: logTableDefinitions,
  views: logViewDefinitions,
  project,
};

async function project(
  events: readonly StoredEvent[],
  { transaction, suffix, sources }: ProjectionTarget,
): Promise<void> {
  const rows = await toRows(events.filter(isOutcome), sources.readContent);
  const [first] = rows;
  if (first === undefined) return;
  await insertRows<LogRow>(transaction, {
    table: logsTable(suffix),
    columns: Object.keys(first) as (keyof LogRow)[],
    rows,
  });
}

/** The log names a recipient by its index: the address stands in the content, which is read once for each job. */
async function toRows(
  outcomes: readonly StoredEvent<RecipientOutcome>[],
  readContent: ContentReader,
): Promise<LogRow[]> {
  const addresses = new Map<string, readonly string[]>();
  const rows: LogRow[] = [];
  for (const outcome of outcomes) {
    let known = addresses.get(outcome.jobId);
    if (known === undefined) {
      const content = await readContent(outcome);
      known = content?.recipients.map(({ email }) => email) ?? [];
      addresses.set(outcome.jobId, known);
    }
    rows.push(toLogRow(outcome, known[outcome.event.data.recipient] ?? null));
  }
  return rows;
}

function isOutcome(stored: StoredEvent): stored is StoredEvent<RecipientOutcome> {
  switch (stored.event.type) {
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
      return true;
    case "RecipientsClaimed":
    case "RecipientsReleased":
    case "JobCreated":
    case "JobQueued":
    case "JobStarted":
    case "JobRetryScheduled":
    case "JobPaused":
    case "JobResumed":
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
    case "JobRetried":
      return false;
  }
}
