import type { Knex } from "knex";
import { insertRows, mergeRows } from "../../src/database/write-rows.ts";
import type { Erasure } from "../../src/domain/job/events.ts";
import { emptyLedger } from "../../src/domain/recipients/ledger.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { readContents, rowsWith } from "../batch.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { type EventOfRecipients, foldEvent } from "./fold-job.ts";
import { outcomeTypes } from "./history.ts";
import {
  type FoldingJob,
  type JobRow,
  type RecipientRow,
  recipientTableDefinitions,
  recipientTables,
  toFoldingJob,
  toJobRow,
  toRecipientRow,
} from "./rows.ts";

/** The current state of each recipient of each job, and its history. */
export const recipientsProjector: Projector<EventOfRecipients> = {
  name: "recipients",
  version: 1,
  tables: recipientTableDefinitions,
  views: {},
  handles: ["JobCreated", "JobRetried", "JobContentErased", "RecipientsClaimed", "RecipientsReleased", ...outcomeTypes],
  project,
};

/** A content can be a megabyte long, and a batch can create thousands of jobs: they are never all loaded at a time. */
const createdAtOnce = 5;

/**
 * Writes one row for each recipient that a batch changes, and reads none: the ledger of its job holds the current
 * state. A job that begins and ends within a batch, as most do in a rebuild, is written once.
 */
async function project(events: readonly StoredEvent<EventOfRecipients>[], target: ProjectionTarget): Promise<void> {
  const ids = [...new Set(events.map(({ jobId }) => jobId))];
  const known = await loadJobs(target.transaction, target.suffix, ids);
  const created = fold(known, events);
  await writeCreated(target, inOrder(created.values()));
  await writeChanged(target, inOrder(known.values()));
  for (const { event, jobId } of events) {
    const job = known.get(jobId) ?? created.get(jobId);
    if (event.type === "JobContentErased" && job !== undefined) await eraseRows(target, job, event.data);
  }
}

/** Folds events into the existing jobs; returns the jobs that begin with them. */
function fold(
  known: ReadonlyMap<string, FoldingJob>,
  events: readonly StoredEvent<EventOfRecipients>[],
): ReadonlyMap<string, FoldingJob> {
  const created = new Map<string, FoldingJob>();
  for (const stored of events) {
    const { event, jobId, tenant, sequence } = stored;
    const job = known.get(jobId) ?? created.get(jobId);
    if (job !== undefined) {
      if (job.tenant !== tenant) throw new Error(`Event ${sequence} assigns job ${jobId} to another tenant.`);
      foldEvent(job, stored);
    } else if (event.type === "JobCreated") {
      const { type, total } = event.data;
      const ledger = emptyLedger(total);
      created.set(jobId, { jobId, tenant, sequence, type, createdAt: event.at, ledger, news: new Map() });
    }
    // An event of a job that was never created is history without effect, as in every fold.
  }
  return created;
}

/** Always in the same order, so that no two transactions deadlock. */
const inOrder = (jobs: Iterable<FoldingJob>): readonly FoldingJob[] =>
  [...jobs].sort((one, other) => one.sequence - other.sequence);

async function loadJobs(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoldingJob>> {
  const rows = await rowsWith<JobRow>(transaction, recipientTables(suffix).jobs, "job_id", ids);
  return new Map(rows.map((row) => [row.job_id, toFoldingJob(row)]));
}

const jobColumns = ["job_id", "tenant", "sequence", "type", "name", "subject", "created_at", "run", "cells"] as const;
const recipientColumns = [
  "sequence",
  "recipient",
  "tenant",
  "email",
  "address",
  "status",
  "history",
  "updated_at",
] as const;

async function writeCreated(
  { transaction, suffix, sources }: ProjectionTarget,
  jobs: readonly FoldingJob[],
): Promise<void> {
  const tables = recipientTables(suffix);
  for await (const contents of readContents(jobs, sources.readContent, createdAtOnce)) {
    await insertRows<JobRow>(transaction, {
      table: tables.jobs,
      columns: jobColumns,
      rows: contents.map(({ job, content }) => toJobRow(job, content)),
    });
    await insertRows<RecipientRow>(transaction, {
      table: tables.recipients,
      columns: recipientColumns,
      rows: contents.flatMap(({ job, content }) =>
        Array.from(job.ledger.cells.keys(), (recipient) => toRecipientRow(job, recipient, content)),
      ),
    });
  }
}

/** Leaves the columns from the creation alone: a recipient that was erased meanwhile stays erased. */
async function writeChanged({ transaction, suffix }: ProjectionTarget, jobs: readonly FoldingJob[]): Promise<void> {
  const tables = recipientTables(suffix);
  await mergeRows<JobRow>(transaction, {
    table: tables.jobs,
    columns: jobColumns,
    rows: jobs.map((job) => toJobRow(job, null)),
    put: ["run", "cells"],
    appended: [],
  });
  await mergeRows<RecipientRow>(transaction, {
    table: tables.recipients,
    columns: recipientColumns,
    rows: jobs.flatMap((job) => toChangedRows(job)),
    put: ["status", "updated_at"],
    appended: ["history"],
  });
}

const toChangedRows = (job: FoldingJob): readonly RecipientRow[] =>
  [...job.news.keys()].sort((one, other) => one - other).map((recipient) => toRecipientRow(job, recipient, null));

/** Drops the recipients' identities; their outcomes stay, unless the job was retired from all lists. */
async function eraseRows(
  { transaction, suffix }: Pick<ProjectionTarget, "transaction" | "suffix">,
  { sequence, jobId }: FoldingJob,
  { recipients, isRetired }: Erasure,
): Promise<void> {
  const tables = recipientTables(suffix);
  const rows = transaction(tables.recipients).where({ sequence });
  const job = transaction(tables.jobs).where({ job_id: jobId });
  if (isRetired) {
    await rows.delete();
    await job.delete();
  } else if (recipients === null) {
    await rows.update({ email: null, address: null });
    await job.update({ name: null, subject: null });
  } else {
    await rows.whereIn("recipient", [...recipients]).update({ email: null, address: null });
  }
}
