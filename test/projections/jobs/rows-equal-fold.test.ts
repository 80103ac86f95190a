import { expect } from "chai";
import fc from "fast-check";
import type { Knex } from "knex";
import { type Checkpoint, checkpointTable } from "../../../projections/checkpoint.ts";
import { createContentReader } from "../../../projections/content-reader.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import { type ProjectionPlace, projectBatch } from "../../../projections/project-batch.ts";
import { createTables, dropTables } from "../../../projections/table-set.ts";
import { toJobRecord } from "../../../src/domain/job/job-record.ts";
import type { EventOfJob } from "../../../src/domain/job/job-view.ts";
import type { JobRef, LogEntry, StoredEvent } from "../../../src/event-log/event-log.ts";
import { channelOf } from "../../../src/event-log/subjects.ts";
import { anyHistory } from "../../support/any-history.ts";
import { caused } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { viewOf } from "../../support/job-views.ts";
import { exampleJobContent, openReadSide, type ReadSide } from "../../support/read-side.ts";

type History = readonly EventOfJob[];

/** Some jobs at a time, their events mixed as workers mix them, and cut into batches anywhere. */
const mixedHistories = fc
  .record({
    histories: fc.array(anyHistory, { minLength: 1, maxLength: 3 }),
    turns: fc.infiniteStream(fc.nat({ max: 2 })),
    sizes: fc.infiniteStream(fc.integer({ min: 1, max: 12 })),
    gaps: fc.infiniteStream(fc.constantFrom(1, 1, 1, 2, 7)),
  })
  .map(({ histories, turns, sizes, gaps }) => {
    const jobs = histories.map((history) => ({ job: newJob(), history }));
    return { jobs, batches: intoBatches(inOneLog(jobs, turns, gaps), sizes) };
  });

type Job = { readonly job: JobRef; readonly history: History };

function inOneLog(jobs: readonly Job[], turns: Iterator<number>, gaps: Iterator<number>): readonly LogEntry[] {
  const left = jobs.map(({ job, history }) => ({ job, events: [...history] }));
  const entries: StoredEvent[] = [];
  for (let sequence = 0; left.some(({ events }) => events.length > 0); ) {
    const { job, events } = left[turns.next().value % left.length] as (typeof left)[number];
    const event = events.shift();
    if (event === undefined) continue;
    sequence += gaps.next().value;
    entries.push({ ...job, ...caused(`event-${sequence}`, event), sequence, channel: channelOf(event) });
  }
  return entries;
}

function intoBatches(entries: readonly LogEntry[], sizes: Iterator<number>): readonly (readonly LogEntry[])[] {
  const batches: (readonly LogEntry[])[] = [];
  for (let from = 0; from < entries.length; ) {
    const size: number = sizes.next().value;
    batches.push(entries.slice(from, from + size));
    from += size;
  }
  return batches;
}

describe("any histories of some jobs, cut into batches anywhere", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  it("leave the rows that the fold of each history shows", async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(mixedHistories, async ({ jobs, batches }) => {
        await beginAnew(side.db);
        for (const { job } of jobs) await side.storeContent(job);
        await projectAll(side, batches);
        const queries = createJobQueries(side.db);
        for (const { job, history } of jobs) {
          const view = viewOf(...history);
          const found = await queries.find(job);
          expect(found.job).to.deep.equal(toJobRecord(job.jobId, view, exampleJobContent));
          expect(found.readSequence).to.equal(batches.at(-1)?.at(-1)?.sequence);
          expect(await ledgerOf(side.db, job)).to.deep.equal([...view.ledger.cells]);
        }
        expect(await countsOf(side.db)).to.deep.equal(countedIn(jobs));
      }),
      { numRuns: 60 },
    );
  });
});

async function beginAnew(db: Knex): Promise<void> {
  await dropTables(db, jobsProjector, "");
  await createTables(db, jobsProjector, "");
}

async function projectAll({ db, contentStore }: ReadSide, batches: readonly (readonly LogEntry[])[]): Promise<void> {
  const sources = { readContent: createContentReader(contentStore) };
  const place: ProjectionPlace = { db, projector: jobsProjector, suffix: "", sources };
  let checkpoint: Checkpoint = { sequence: 0, logCreatedAt: "2026-11-21T09:00:00Z", version: jobsProjector.version };
  for (const batch of batches) checkpoint = await projectBatch(place, checkpoint, batch);
  const [row] = await db(checkpointTable("jobs")).select("sequence");
  expect(row).to.deep.equal({ sequence: checkpoint.sequence });
}

async function ledgerOf(db: Knex, { jobId }: JobRef): Promise<readonly number[]> {
  const [row] = await db("jobs_ledgers").where({ job_id: jobId }).select("cells");
  return [...(row.cells as Buffer)];
}

type Counts = Readonly<Record<string, number>>;

/** What the list tells as its total, where it does not count. */
async function countsOf(db: Knex): Promise<Counts> {
  const rows: { status: string; jobs: number }[] = await db("jobs_counts");
  return Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs]));
}

function countedIn(jobs: readonly Job[]): Counts {
  const counts: Record<string, number> = {};
  for (const { history } of jobs) {
    const { status } = viewOf(...history);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
