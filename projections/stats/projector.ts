import type { Knex } from "knex";
import { addRows, putRows } from "../../src/database/write-rows.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toDateOrNull, toInstantOrNull } from "../instants.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { type CountedEvent, type CountedJob, countedTypes } from "./counted-job.ts";
import { statsTableDefinitions, statsTables } from "./tables.ts";
import { activities, type CountRow, createTally, type MinuteRow } from "./tally.ts";

/** How many jobs there are in which state, what is left of them to be sent, and what happened in which minute. */
export const statsProjector: Projector<CountedEvent> = {
  name: "stats",
  version: 1,
  tables: statsTableDefinitions,
  views: {},
  handles: countedTypes,
  project,
};

/** Longer lists make MariaDB turn them into a join. */
const loadedAtOnce = 500;

type JobRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly priority: CountedJob["priority"];
  readonly status: CountedJob["status"];
  readonly run: number;
  readonly attempt: number;
  readonly opening: number;
  readonly waiting_since: Date | null;
  readonly ledger_run: number;
  readonly cells: Buffer;
};

async function project(
  events: readonly StoredEvent<CountedEvent>[],
  { transaction, suffix }: ProjectionTarget,
): Promise<void> {
  const ids = [...new Set(events.map(({ jobId }) => jobId))].sort();
  const jobs = await load(transaction, suffix, ids);
  const gone = new Set(jobs.keys());
  const tally = createTally(jobs);
  for (const stored of events) tally.add(stored);
  for (const jobId of jobs.keys()) gone.delete(jobId);

  const tables = statsTables(suffix);
  await addRows<CountRow>(transaction, {
    table: tables.counts,
    columns: ["tenant", "status", "priority", "jobs", "unsent"],
    summed: ["jobs", "unsent"],
    rows: tally.counts(),
  });
  await addRows<MinuteRow>(transaction, {
    table: tables.minutes,
    columns: ["tenant", "minute", ...activities],
    summed: activities,
    rows: tally.minutes(),
  });
  if (gone.size > 0) await remove(transaction, tables.jobs, [...gone]);
  await putRows<JobRow>(transaction, {
    table: tables.jobs,
    columns: [
      "job_id",
      "tenant",
      "priority",
      "status",
      "run",
      "attempt",
      "opening",
      "waiting_since",
      "ledger_run",
      "cells",
    ],
    rows: [...jobs].map(([jobId, job]) => toRow(jobId, job)),
  });
}

async function load(transaction: Knex.Transaction, suffix: Suffix, ids: readonly string[]) {
  const jobs = new Map<string, CountedJob>();
  for (const some of portions(ids)) {
    const rows: JobRow[] = await transaction(statsTables(suffix).jobs).whereIn("job_id", some);
    for (const row of rows) jobs.set(row.job_id, toJob(row));
  }
  return jobs;
}

async function remove(transaction: Knex.Transaction, table: string, ids: readonly string[]): Promise<void> {
  for (const some of portions(ids)) await transaction(table).whereIn("job_id", some).delete();
}

function* portions(ids: readonly string[]): Generator<readonly string[]> {
  for (let first = 0; first < ids.length; first += loadedAtOnce) yield ids.slice(first, first + loadedAtOnce);
}

const toRow = (jobId: string, job: CountedJob): JobRow => ({
  job_id: jobId,
  tenant: job.tenant,
  priority: job.priority,
  status: job.status,
  run: job.run,
  attempt: job.attempt,
  opening: job.opening,
  waiting_since: toDateOrNull(job.waitingSince),
  ledger_run: job.ledger.run,
  cells: Buffer.from(job.ledger.cells),
});

const toJob = (row: JobRow): CountedJob => ({
  tenant: row.tenant,
  priority: row.priority,
  status: row.status,
  run: row.run,
  attempt: row.attempt,
  opening: row.opening,
  waitingSince: toInstantOrNull(row.waiting_since),
  // The driver's buffer is a window on the packet; the fold writes into its own.
  ledger: { run: row.ledger_run, cells: Uint8Array.from(row.cells) },
});
