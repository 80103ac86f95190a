import type { Knex } from "knex";
import { addRows } from "../../src/database/write-rows.ts";
import { cell } from "../../src/domain/recipients/ledger.ts";
import type { Suffix } from "../projector.ts";
import type { JobRow, ProjectedJob } from "./rows.ts";
import { jobTables } from "./tables.ts";

/** A group of jobs, and how many it has. */
export type CountRow = Pick<JobRow, "tenant" | "status" | "type" | "priority"> & {
  readonly jobs: number;
  /** Jobs that are in no list any more: statistics still count them. */
  readonly retired: number;
  /** Recipients that are still to be served. */
  readonly unsent: number;
};

export function countOf({ tenant, view }: ProjectedJob): CountRow {
  const { settings, status, completedAt, ledger } = view;
  const { type, priority } = settings;
  const unsent = completedAt === null ? unsentIn(ledger.cells) : 0;
  return { tenant, status, type, priority, jobs: 1, retired: 0, unsent };
}

/** History is not undone: a job that is in no list any more stays counted under its end. */
export const countRetired = (job: ProjectedJob): CountRow => ({ ...countOf(job), jobs: 0, retired: 1, unsent: 0 });

function unsentIn(cells: Uint8Array): number {
  let unsent = 0;
  for (const value of cells) if (value <= cell.deferred) unsent += 1;
  return unsent;
}

/** Adds the difference between two lists of contributions to the stored counts. */
export async function recount(
  transaction: Knex.Transaction,
  suffix: Suffix,
  before: Iterable<CountRow>,
  after: Iterable<CountRow>,
): Promise<void> {
  const changes = new Map<string, CountRow>();
  const add = (group: CountRow, sign: 1 | -1): void => {
    const { tenant, status, type, priority } = group;
    const key = `${tenant} ${status} ${type} ${priority}`;
    const { jobs, retired, unsent } = changes.get(key) ?? { jobs: 0, retired: 0, unsent: 0 };
    changes.set(key, {
      ...group,
      jobs: jobs + sign * group.jobs,
      retired: retired + sign * group.retired,
      unsent: unsent + sign * group.unsent,
    });
  };
  for (const one of before) add(one, -1);
  for (const one of after) add(one, 1);
  const table = jobTables(suffix).counts;
  const rows = [...changes.values()].filter(({ jobs, retired, unsent }) => jobs !== 0 || retired !== 0 || unsent !== 0);
  await addRows<CountRow>(transaction, {
    table,
    columns: ["tenant", "status", "type", "priority", "jobs", "retired", "unsent"],
    summed: ["jobs", "retired", "unsent"],
    rows,
  });
  // Which groups temporarily fall to zero depends on the batches; the final rows must not.
  const tenants = [...new Set(rows.filter(({ jobs }) => jobs < 0).map(({ tenant }) => tenant))];
  if (tenants.length > 0) {
    await transaction(table).whereIn("tenant", tenants).where({ jobs: 0, retired: 0 }).delete();
  }
}
