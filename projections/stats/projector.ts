import { addRows } from "../../src/database/write-rows.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows } from "../batch.ts";
import { toDateOrNull, toInstantOrNull } from "../instants.ts";
import type { ProjectionTarget, Projector } from "../projector.ts";
import { type CountedEvent, type CountedJob, countedTypes } from "./counted-job.ts";
import { statsTableDefinitions, statsTables } from "./tables.ts";
import { activities, type CountRow, createTally, type MinuteRow } from "./tally.ts";

/** The number of jobs in each state, their unsent recipients, and the events of each minute. */
export const statsProjector: Projector<CountedEvent> = {
  name: "stats",
  version: 1,
  tables: statsTableDefinitions,
  views: {},
  handles: countedTypes,
  project,
};

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
  const tables = statsTables(suffix);
  const rows = await loadRows<JobRow>(
    transaction,
    tables.jobs,
    ["job_id"],
    idsOf(events, ({ jobId }) => jobId),
  );
  const jobs = new Map(rows.all().map((row) => [row.job_id, toJob(row)]));
  const tally = createTally(jobs);
  for (const stored of events) tally.add(stored);
  for (const row of rows.all()) if (!jobs.has(row.job_id)) rows.remove(row);
  for (const [jobId, job] of jobs) rows.put(toRow(jobId, job));

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
  await rows.write();
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
  // The driver's buffer is a view of the packet; the fold needs one that it may change.
  ledger: { run: row.ledger_run, cells: Uint8Array.from(row.cells) },
});
