import type { Knex } from "knex";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows } from "../batch.ts";
import type { ProjectionTarget, Projector } from "../projector.ts";
import { type WaitingRow, waitingTable, waitingTableDefinitions } from "./rows.ts";
import { type WaitingEvent, waitingRowAfter, waitingTypes } from "./waiting-row.ts";

/**
 * Jobs that wait for a time: those scheduled for later, and those between two attempts. It also holds the order of
 * groups.
 */
export const waitingProjector: Projector<WaitingEvent> = {
  name: "waiting",
  version: 1,
  alsoWritten: { waiting: ["ready_at", "handed_over_at"] },
  tables: waitingTableDefinitions,
  views: {},
  handles: waitingTypes,
  project,
};

async function project(
  events: readonly StoredEvent<WaitingEvent>[],
  { transaction, suffix }: ProjectionTarget,
): Promise<void> {
  const table = waitingTable(suffix);
  const rows = await loadRows<WaitingRow>(
    transaction,
    table,
    ["job_id"],
    idsOf(events, ({ jobId }) => jobId),
  );
  for (const stored of events) {
    const before = rows.find(stored.jobId);
    const after = waitingRowAfter(before, stored);
    if (after !== undefined) rows.put(after);
    else if (before !== undefined) rows.remove(before);
  }
  const { before, after } = await rows.write();
  await releaseFirsts(transaction, table, groupsOf([...before, ...after]));
}

const groupsOf = (rows: readonly WaitingRow[]): string[] =>
  [...new Set(rows.flatMap(({ group_sha256 }) => group_sha256 ?? []))].sort();

/**
 * A job that joins a group goes to its end, so the first job stays first until it has ended: a job that was ready never
 * becomes unready. Each first one is looked up in the index: for a minimum of each group, servers may look at all jobs of a long
 * one, in every batch.
 */
async function releaseFirsts(transaction: Knex.Transaction, table: string, groups: readonly string[]): Promise<void> {
  for (const group of groups) {
    const sql = "SELECT place FROM ?? FORCE INDEX (by_group) WHERE group_sha256 = ? ORDER BY place LIMIT 1";
    const [[first]] = (await transaction.raw(sql, [table, group])) as [Pick<WaitingRow, "place">[]];
    if (first === undefined) continue;
    await transaction(table)
      .where({ group_sha256: group, place: first.place })
      .whereNull("handed_over_at")
      .update({ ready_at: transaction.ref("due_at") });
  }
}
