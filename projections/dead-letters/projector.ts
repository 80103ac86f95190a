import type { Knex } from "knex";
import { insertRows, putRows } from "../../src/database/write-rows.ts";
import { createDeadLetter, decideDeadLetter, runDecidedAbout } from "../../src/domain/job/dead-letter.ts";
import type { JobLabels } from "../../src/domain/job/job-record.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { ContentReader, EventOf, ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { type JobRow, type LetterRow, toDeadLetter, toLetterRow } from "./rows.ts";
import { deadLetterTableDefinitions, deadLetterTables } from "./tables.ts";

const handles = [
  "JobCreated",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
  "JobRetried",
  "JobRequeued",
  "DeadLetterIgnored",
  "JobContentErased",
] as const;

type Decision = StoredEvent<EventOf<(typeof handles)[number]>>;

/** Jobs that gave up, and what became of each. */
export const deadLettersProjector: Projector<Decision["event"]> = {
  name: "dead-letters",
  version: 1,
  tables: deadLetterTableDefinitions,
  views: {},
  handles,
  project,
};

type Rows = { readonly jobs: Map<string, JobRow>; readonly letters: Map<string, LetterRow> };
type Labels = ReadonlyMap<string, Pick<JobLabels, "name" | "subject">>;

/** Longer lists make MariaDB turn them into a join. */
const loadedAtOnce = 500;
/** A content can be a megabyte long: never all of them at a time. */
const readAtOnce = 20;

async function project(decisions: readonly Decision[], target: ProjectionTarget): Promise<void> {
  const ids = [...new Set(decisions.map(({ jobId }) => jobId))].sort();
  const before = await load(target.transaction, target.suffix, ids);
  const labels = await readLabels(decisions, target.sources.readContent);
  const after: Rows = { jobs: new Map(before.jobs), letters: new Map(before.letters) };
  for (const decision of decisions) apply(after, decision, labels);
  await write(target.transaction, target.suffix, before, after);
}

const keyOf = (jobId: string, run: number): string => `${jobId}.${run}`;

function apply({ jobs, letters }: Rows, stored: Decision, labels: Labels): void {
  const { event, jobId, tenant, sequence, actor } = stored;
  switch (event.type) {
    case "JobCreated":
      jobs.set(jobId, { job_id: jobId, type: event.data.type, total: event.data.total });
      return;
    case "JobFailed": {
      const job = jobs.get(jobId);
      // An event of a job that was never created is history without effect, as in every fold.
      if (job === undefined) return;
      const { name, subject } = labels.get(jobId) ?? { name: null, subject: null };
      const frame = { job_id: jobId, tenant, sequence, type: job.type, name, subject };
      letters.set(keyOf(jobId, event.data.run), toLetterRow(frame, createDeadLetter(event, job.total)));
      return;
    }
    case "JobRetried":
    case "JobRequeued":
    case "DeadLetterIgnored": {
      const row = letters.get(keyOf(jobId, runDecidedAbout(event)));
      if (row === undefined) return;
      const letter = decideDeadLetter(toDeadLetter(row), event, actor);
      letters.set(keyOf(jobId, row.run), toLetterRow(row, letter));
      return;
    }
    case "JobCompleted":
    case "JobCancelled":
      jobs.delete(jobId);
      return;
    case "JobContentErased":
      if (event.data.recipients !== null) return;
      for (const [key, letter] of letters) {
        if (letter.job_id !== jobId) continue;
        if (event.data.isRetired) letters.delete(key);
        else letters.set(key, { ...letter, name: null, subject: null });
      }
      if (event.data.isRetired) jobs.delete(jobId);
      return;
  }
}

async function readLabels(decisions: readonly Decision[], readContent: ContentReader): Promise<Labels> {
  const failed = decisions.filter(({ event }) => event.type === "JobFailed");
  const labels = new Map<string, Pick<JobLabels, "name" | "subject">>();
  for (let first = 0; first < failed.length; first += readAtOnce) {
    const some = failed.slice(first, first + readAtOnce);
    const contents = await Promise.all(some.map(async (job) => ({ job, content: await readContent(job) })));
    for (const { job, content } of contents) {
      if (content !== null) labels.set(job.jobId, { name: content.name, subject: content.subject });
    }
  }
  return labels;
}

async function load(transaction: Knex.Transaction, suffix: Suffix, ids: readonly string[]): Promise<Rows> {
  const tables = deadLetterTables(suffix);
  const rows: Rows = { jobs: new Map(), letters: new Map() };
  for (let first = 0; first < ids.length; first += loadedAtOnce) {
    const some = ids.slice(first, first + loadedAtOnce);
    const jobs: JobRow[] = await transaction(tables.jobs).whereIn("job_id", some);
    const letters: LetterRow[] = await transaction(tables.letters).whereIn("job_id", some);
    for (const job of jobs) rows.jobs.set(job.job_id, job);
    for (const letter of letters) rows.letters.set(keyOf(letter.job_id, letter.run), letter);
  }
  return rows;
}

async function write(transaction: Knex.Transaction, suffix: Suffix, before: Rows, after: Rows): Promise<void> {
  const tables = deadLetterTables(suffix);
  const gone = [...before.jobs.keys()].filter((jobId) => !after.jobs.has(jobId));
  for (let first = 0; first < gone.length; first += loadedAtOnce) {
    await transaction(tables.jobs)
      .whereIn("job_id", gone.slice(first, first + loadedAtOnce))
      .delete();
  }
  for (const [key, { job_id, run }] of before.letters) {
    if (!after.letters.has(key)) await transaction(tables.letters).where({ job_id, run }).delete();
  }
  await insertRows<JobRow>(transaction, {
    table: tables.jobs,
    columns: ["job_id", "type", "total"],
    rows: [...after.jobs.values()].filter(({ job_id }) => !before.jobs.has(job_id)),
  });
  const letters = [...after.letters].filter(([key, row]) => before.letters.get(key) !== row).map(([, row]) => row);
  const [first] = letters;
  if (first === undefined) return;
  const columns = Object.keys(first) as (keyof LetterRow)[];
  await putRows<LetterRow>(transaction, { table: tables.letters, columns, rows: letters });
}
