import type { Knex } from "knex";
import { addRows } from "../../src/database/write-rows.ts";
import type { Suffix } from "../projector.ts";
import type { JobRow, ProjectedJob } from "./rows.ts";
import { jobTables } from "./tables.ts";

type CountRow = Pick<JobRow, "tenant" | "status" | "type"> & { readonly jobs: number };

/** Moves jobs from the kind they were of to the one they are of, counts those that are new, and no more those gone. */
export async function recount(
  transaction: Knex.Transaction,
  suffix: Suffix,
  before: ReadonlyMap<string, ProjectedJob>,
  after: readonly ProjectedJob[],
  gone: ReadonlySet<string>,
): Promise<void> {
  const changes = new Map<string, CountRow>();
  const count = ({ tenant, view }: ProjectedJob, by: number): void => {
    const { status, settings } = view;
    const key = `${tenant} ${status} ${settings.type}`;
    changes.set(key, { tenant, status, type: settings.type, jobs: (changes.get(key)?.jobs ?? 0) + by });
  };
  for (const job of after) {
    const old = before.get(job.jobId);
    if (old?.view.status === job.view.status) continue;
    if (old !== undefined) count(old, -1);
    count(job, 1);
  }
  for (const jobId of gone) {
    const old = before.get(jobId);
    if (old !== undefined) count(old, -1);
  }
  const table = jobTables(suffix).counts;
  const rows = [...changes.values()].filter(({ jobs }) => jobs !== 0);
  await addRows<CountRow>(transaction, {
    table,
    columns: ["tenant", "status", "type", "jobs"],
    summed: ["jobs"],
    rows,
  });
  // Which kinds come to nothing in between depends on the batches; what is left must not.
  const tenants = [...new Set(rows.filter(({ jobs }) => jobs < 0).map(({ tenant }) => tenant))];
  if (tenants.length > 0) await transaction(table).whereIn("tenant", tenants).where("jobs", 0).delete();
}
