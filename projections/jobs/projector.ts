import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import { addRows, putRows } from "../../src/database/write-rows.ts";
import { noLabels } from "../../src/domain/job/job-record.ts";
import { createJobView, evolveJobView } from "../../src/domain/job/job-view.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { inPortions } from "../batch.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { storeContents } from "./contents.ts";
import { type Erasures, eraseContents, removeJobs, takeErasure } from "./erasures.ts";
import { type JobRow, type LedgerRow, type ProjectedJob, toJobRow, toLedgerRow, toProjectedJob } from "./rows.ts";
import { jobTableDefinitions, jobTables, jobViewDefinitions } from "./tables.ts";

/** The current state of every job: the source of the list, of a single job and of its progress. */
export const jobsProjector: Projector = {
  name: "jobs",
  version: 1,
  tables: jobTableDefinitions,
  views: jobViewDefinitions,
  handles: "every type",
  project,
};

/**
 * Loads the jobs that the events are about, folds each, and writes them back whole, so a batch costs the same few
 * statements whether it holds one event or two thousand. The ledger provides the counters: an event that changes no
 * recipient changes no counter.
 */
async function project(events: readonly StoredEvent[], target: ProjectionTarget): Promise<void> {
  const { transaction, suffix } = target;
  const before = await loadJobs(transaction, suffix, [...new Set(events.map(({ jobId }) => jobId))]);
  const { jobs, created, erasures } = fold(before, events);
  const labels = await storeContents(
    created.filter(({ jobId }) => !erasures.whole.has(jobId)),
    target,
  );
  for (const job of created) job.labels = labels.get(job.jobId) ?? job.labels;
  const changed = [...jobs.values()].sort((one, other) => (one.jobId < other.jobId ? -1 : 1));
  await writeJobs(transaction, suffix, changed);
  await eraseContents(transaction, suffix, erasures);
  await recount(transaction, suffix, before, changed, erasures.retired);
  await removeJobs(transaction, suffix, [...erasures.retired]);
}

/** Changed in place: a batch has one for each job, and hundreds of events for each. */
type Folding = { -readonly [Key in keyof ProjectedJob]: ProjectedJob[Key] };

/** Folds each event into its job; distinguishes the jobs that begin with these events. */
function fold(before: ReadonlyMap<string, ProjectedJob>, events: readonly StoredEvent[]) {
  const jobs = new Map([...before].map(([jobId, job]): [string, Folding] => [jobId, { ...job }]));
  const created: Folding[] = [];
  const erasures: Erasures = { whole: new Set(), retired: new Set(), recipients: new Map() };
  for (const { event, jobId, tenant, sequence } of events) {
    const job = jobs.get(jobId);
    if (job !== undefined) {
      if (job.tenant !== tenant) throw new Error(`Event ${sequence} assigns job ${jobId} to another tenant.`);
      job.view = evolveJobView(job.view, event);
      job.lastSequence = sequence;
      if (event.type === "JobContentErased") takeErasure(erasures, jobId, event.data);
      if (erasures.whole.has(jobId)) job.labels = noLabels;
      // The row is already deleted: later events are history without effect.
      if (erasures.retired.has(jobId)) jobs.delete(jobId);
    } else if (event.type === "JobCreated") {
      const begun = { jobId, tenant, labels: noLabels, view: createJobView(event), lastSequence: sequence };
      jobs.set(jobId, begun);
      created.push(begun);
    }
    // An event of a job that was never created is history without effect, as in every fold.
  }
  return { jobs, created: created.filter(({ jobId }) => jobs.has(jobId)), erasures };
}

async function loadJobs(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<Map<string, ProjectedJob>> {
  const tables = jobTables(suffix);
  const sql = `
    SELECT job.*, ledger.run AS ledger_run, ledger.cells
    FROM ?? AS job JOIN ?? AS ledger ON ledger.job_id = job.id WHERE job.id IN (?)`;
  const jobs = new Map<string, ProjectedJob>();
  for (const some of inPortions(ids)) {
    const [rows] = await transaction.raw(sql, [tables.jobs, tables.ledgers, asBinding(some)]);
    for (const row of rows as (JobRow & { ledger_run: number; cells: Buffer })[]) {
      jobs.set(row.id, toProjectedJob(row, { run: row.ledger_run, cells: row.cells }));
    }
  }
  return jobs;
}

async function writeJobs(transaction: Knex.Transaction, suffix: Suffix, jobs: readonly ProjectedJob[]): Promise<void> {
  const [first] = jobs;
  if (first === undefined) return;
  const tables = jobTables(suffix);
  await putRows<JobRow>(transaction, {
    table: tables.jobs,
    columns: Object.keys(toJobRow(first)) as (keyof JobRow)[],
    rows: jobs.map(toJobRow),
  });
  await putRows<LedgerRow>(transaction, {
    table: tables.ledgers,
    columns: ["job_id", "tenant", "run", "cells"],
    rows: jobs.map(toLedgerRow),
  });
}

type CountRow = Pick<JobRow, "tenant" | "status" | "type"> & { readonly jobs: number };

/** Moves jobs from their previous group of counts to the current one, adds new jobs, and removes deleted ones. */
async function recount(
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
  // Which groups temporarily fall to zero depends on the batches; the final rows must not.
  const tenants = [...new Set(rows.filter(({ jobs }) => jobs < 0).map(({ tenant }) => tenant))];
  if (tenants.length > 0) await transaction(table).whereIn("tenant", tenants).where("jobs", 0).delete();
}
