import type { Knex } from "knex";
import type { Turn } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toDate } from "../instants.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { insertRows } from "../write-rows.ts";
import type { WaitingRow } from "./rows.ts";
import { waitingTable, waitingTableDefinitions } from "./tables.ts";

/** Jobs that wait for a time: those scheduled for later, and those between two attempts. */
export const waitingProjector: Projector = {
  name: "waiting",
  version: 1,
  tables: waitingTableDefinitions,
  views: {},
  project,
};

/** What an event does to the one row that its job may have. */
type Effect = { readonly put: WaitingRow } | "leaves" | { readonly leavesAt: Turn } | null;

async function project(events: readonly StoredEvent[], { transaction, suffix }: ProjectionTarget): Promise<void> {
  const touched = [...new Set(events.filter((stored) => effectOf(stored) !== null).map(({ jobId }) => jobId))].sort();
  if (touched.length === 0) return;
  const before = await loadRows(transaction, suffix, touched);
  const after = new Map(before);
  for (const stored of events) {
    const row = waitingRowAfter(after.get(stored.jobId), stored);
    if (row === undefined) after.delete(stored.jobId);
    else after.set(stored.jobId, row);
  }
  const gone = [...before.keys()].filter((jobId) => after.get(jobId) !== before.get(jobId));
  if (gone.length > 0) await transaction(waitingTable(suffix)).whereIn("job_id", gone).delete();
  const rows = [...after.values()].filter((row) => before.get(row.job_id) !== row);
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first) as (keyof WaitingRow)[];
  await insertRows<WaitingRow>(transaction, { table: waitingTable(suffix), columns, rows });
}

/** The row that the job of an event has after it, given the one before. */
export function waitingRowAfter(before: WaitingRow | undefined, stored: StoredEvent): WaitingRow | undefined {
  const effect = effectOf(stored);
  if (effect === null) return before;
  if (effect === "leaves") return undefined;
  if ("put" in effect) return effect.put;
  return isTurn(before, effect.leavesAt) ? undefined : before;
}

function effectOf(stored: StoredEvent): Effect {
  const { event } = stored;
  switch (event.type) {
    case "JobCreated":
      return event.data.scheduledAt === null
        ? null
        : waitFor(stored, event.data.scheduledAt, { run: 1, attempt: 1, priority: event.data.priority });
    case "JobRetryScheduled":
      return waitFor(stored, event.data.nextAttemptAt, event.data);
    case "JobResumed":
      return event.data.notBefore === null ? null : waitFor(stored, event.data.notBefore, event.data);
    case "JobQueued":
      // One that is late, or there twice, ends no wait but its own.
      return { leavesAt: event.data };
    case "JobStarted":
    case "JobPaused":
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
    case "JobRetried":
      return "leaves";
    case "JobRequeued":
    case "DeadLetterIgnored":
    case "RecipientsClaimed":
    case "RecipientsReleased":
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
      return null;
  }
}

const waitFor = (
  { jobId, tenant, id, sequence, correlationId }: StoredEvent,
  dueAt: Instant,
  { run, attempt, priority }: Turn & Pick<WaitingRow, "priority">,
): Effect => ({
  put: {
    job_id: jobId,
    tenant,
    due_at: toDate(dueAt),
    run,
    attempt,
    priority,
    cause_id: id,
    cause_sequence: sequence,
    correlation_id: correlationId,
  },
});

const isTurn = (row: WaitingRow | undefined, { run, attempt }: Turn): boolean =>
  row?.run === run && row.attempt === attempt;

async function loadRows(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<Map<string, WaitingRow>> {
  const rows: WaitingRow[] = await transaction(waitingTable(suffix)).whereIn("job_id", ids).select();
  return new Map(rows.map((row) => [row.job_id, row]));
}
