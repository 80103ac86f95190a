import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import { putRows } from "../../src/database/write-rows.ts";
import { isOfJob, isOfMailing, type StoredEvent, type TenantEvent } from "../../src/event-log/event-log.ts";
import { inPortions } from "../batch.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { storeContents } from "./contents.ts";
import { countOf, countRetired, recount } from "./count-jobs.ts";
import { eraseContents, removeJobs } from "./erasures.ts";
import { type FoldingJob, foldJobs } from "./fold-jobs.ts";
import { shareOf, writeMailings } from "./mailings/write-mailings.ts";
import { writeRecipients } from "./recipients/write-recipients.ts";
import { type JobRow, type LedgerRow, type ProjectedJob, toJobRow, toLedgerRow, toProjectedJob } from "./rows.ts";
import type { Activities } from "./stats/activities.ts";
import { writeWaiting } from "./stats/waiting.ts";
import { addActivities } from "./stats/write-activities.ts";
import { jobQueryKeys, jobTableDefinitions, jobTables, jobViewDefinitions } from "./tables.ts";
import { noteBlocks } from "./tenant-blocks.ts";

/**
 * Every job, its recipients, what happened to them, how many there are, and the mailings that jobs are parts of: whatever
 * follows from the ledger of a job, so that each event is folded once, and each mail is one row.
 */
export const jobsProjector: Projector = {
  name: "jobs",
  version: 8,
  tables: jobTableDefinitions,
  queryKeys: jobQueryKeys,
  views: jobViewDefinitions,
  handles: "every type",
  project,
};

/**
 * Loads the jobs that the events are about, folds each, and writes them back whole, so a batch costs the same few
 * statements whether it holds one event or two thousand. The ledger provides the counters: an event that changes no
 * recipient changes no counter.
 */
async function project(stored: readonly StoredEvent<TenantEvent>[], target: ProjectionTarget): Promise<void> {
  const { transaction, suffix } = target;
  const events = stored.filter(isOfJob);
  const before = await loadJobs(transaction, suffix, [...new Set(events.map(({ jobId }) => jobId))]);
  // Counted now: the fold goes on in the same ledgers.
  const countsBefore = [...before.values()].map(countOf);
  const sharesBefore = [...before.values()].flatMap(shareOf);
  const minutes: Activities = new Map();
  const { jobs, retired, created, erasures } = foldJobs(before, events, minutes);
  const labels = await storeContents(
    created.filter(({ jobId }) => !erasures.whole.has(jobId)),
    target,
  );
  for (const job of created) job.labels = labels.get(job.jobId) ?? job.labels;
  const changed = [...jobs.values()].sort((one, other) => (one.jobId < other.jobId ? -1 : 1));
  await writeRecipients(changed, target);
  await writeJobs(transaction, suffix, changed);
  await eraseContents(transaction, suffix, erasures);
  await recount(transaction, suffix, countsBefore, [...changed.map(countOf), ...retired.map(countRetired)]);
  await writeMailings(stored.filter(isOfMailing), sharesBefore, [...changed, ...retired].flatMap(shareOf), target);
  await writeWaiting(transaction, suffix, before, jobs);
  await addActivities(transaction, suffix, minutes);
  await removeJobs(transaction, suffix, erasures);
  await noteBlocks(transaction, suffix, stored);
}

type LoadedRow = JobRow &
  Pick<LedgerRow, "run_began_at" | "cells" | "feedback"> & {
    readonly ledger_run: number;
    readonly waiting_since: Date | null;
  };

async function loadJobs(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<Map<string, ProjectedJob>> {
  const tables = jobTables(suffix);
  const sql = `
    SELECT job.*, ledger.run AS ledger_run, ledger.run_began_at, ledger.cells, ledger.feedback, waiting.waiting_since
    FROM ?? AS job JOIN ?? AS ledger ON ledger.job_id = job.id LEFT JOIN ?? AS waiting ON waiting.job_id = job.id
    WHERE job.id IN (?)`;
  const jobs = new Map<string, ProjectedJob>();
  for (const some of inPortions(ids)) {
    const [rows] = await transaction.raw(sql, [tables.jobs, tables.ledgers, tables.waiting, asBinding(some)]);
    for (const row of rows as LoadedRow[]) {
      jobs.set(row.id, toProjectedJob(row, { ...row, run: row.ledger_run }, row.waiting_since));
    }
  }
  return jobs;
}

async function writeJobs(transaction: Knex.Transaction, suffix: Suffix, jobs: readonly FoldingJob[]): Promise<void> {
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
    columns: ["job_id", "tenant", "run", "run_began_at", "cells", "feedback"],
    rows: jobs.map(toLedgerRow),
  });
}
