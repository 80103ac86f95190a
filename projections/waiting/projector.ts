import type { Knex } from "knex";
import { insertRows } from "../../src/database/write-rows.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import type { WaitingRow } from "./rows.ts";
import { waitingTable, waitingTableDefinitions } from "./tables.ts";
import { type WaitingEvent, waitingRowAfter, waitingTypes } from "./waiting-row.ts";

/** Jobs that wait for a time: those scheduled for later, and those between two attempts. And the order of groups. */
export const waitingProjector: Projector<WaitingEvent> = {
  name: "waiting",
  version: 1,
  tables: waitingTableDefinitions,
  views: {},
  handles: waitingTypes,
  project,
};

async function project(
  events: readonly StoredEvent<WaitingEvent>[],
  { transaction, suffix }: ProjectionTarget,
): Promise<void> {
  const touched = [...new Set(events.map(({ jobId }) => jobId))].sort();
  const before = await loadRows(transaction, suffix, touched);
  const after = new Map(before);
  for (const stored of events) {
    const row = waitingRowAfter(after.get(stored.jobId), stored);
    if (row === undefined) after.delete(stored.jobId);
    else after.set(stored.jobId, row);
  }
  const gone = [...before.values()].filter((row) => after.get(row.job_id) !== row);
  const come = [...after.values()].filter((row) => before.get(row.job_id) !== row);
  if (gone.length > 0) {
    const ids = gone.map(({ job_id }) => job_id);
    await transaction(waitingTable(suffix)).whereIn("job_id", ids).delete();
  }
  const [first] = come;
  if (first !== undefined) {
    const columns = Object.keys(first) as (keyof WaitingRow)[];
    await insertRows<WaitingRow>(transaction, { table: waitingTable(suffix), columns, rows: come });
  }
  await releaseFirsts(transaction, waitingTable(suffix), groupsOf([...gone, ...come]));
}

const groupsOf = (rows: readonly WaitingRow[]): string[] =>
  [...new Set(rows.flatMap(({ group_sha256 }) => group_sha256 ?? []))].sort();

/**
 * Who comes into a group comes in behind the others, so who is first stays so until it has ended: nobody's readiness
 * is ever taken back.
 */
async function releaseFirsts(transaction: Knex.Transaction, table: string, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return;
  const firsts: { readonly group_sha256: string; readonly place: number }[] = await transaction(table)
    .select("group_sha256")
    .min({ place: "place" })
    .whereIn("group_sha256", [...groups])
    .groupBy("group_sha256");
  for (const { group_sha256, place } of firsts) {
    await transaction(table)
      .where({ group_sha256, place })
      .update({ ready_at: transaction.ref("due_at") });
  }
}

async function loadRows(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<Map<string, WaitingRow>> {
  const rows: WaitingRow[] = await transaction(waitingTable(suffix)).whereIn("job_id", ids).select();
  return new Map(rows.map((row) => [row.job_id, row]));
}
