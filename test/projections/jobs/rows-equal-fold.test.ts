import { expect } from "chai";
import fc from "fast-check";
import type { Knex } from "knex";
import { type Checkpoint, checkpointTable } from "../../../projections/following/checkpoint.ts";
import { createContentReader } from "../../../projections/following/content-reader.ts";
import { type ProjectionPlace, projectBatch } from "../../../projections/following/project-batch.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import { cellsIn } from "../../../projections/jobs/stored-cells.ts";
import { createTables, dropTables } from "../../../projections/rebuilding/table-set.ts";
import { toJobRecord } from "../../../src/domain/job/job-record.ts";
import type { JobRef, LogEvent } from "../../../src/event-log/event-log.ts";
import { viewOf } from "../../support/job-views.ts";
import { type JobWithHistory, mixedHistories } from "../../support/mixed-histories.ts";
import { runsOf } from "../../support/property-runs.ts";
import { exampleJobContent, openReadSide, type ReadSide } from "../../support/read-side.ts";

describe("any histories of some jobs, cut into batches anywhere", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  it("leave the rows that the fold of each history shows", async function () {
    this.timeout(120_000);
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
      { numRuns: runsOf(60) },
    );
  });
});

async function beginAnew(db: Knex): Promise<void> {
  await dropTables(db, jobsProjector, "");
  await createTables(db, jobsProjector, "");
}

async function projectAll({ db, contentStore }: ReadSide, batches: readonly (readonly LogEvent[])[]): Promise<void> {
  const sources = { readContent: createContentReader(contentStore) };
  const place: ProjectionPlace = { db, projector: jobsProjector, suffix: "", sources };
  let checkpoint: Checkpoint = { sequence: 0, logCreatedAt: "2026-11-21T09:00:00Z", version: jobsProjector.version };
  for (const batch of batches) checkpoint = await projectBatch(place, checkpoint, batch);
  const [row] = await db(checkpointTable("jobs")).select("sequence");
  expect(row).to.deep.equal({ sequence: checkpoint.sequence });
}

async function ledgerOf(db: Knex, { jobId }: JobRef): Promise<readonly number[]> {
  const [row] = await db("jobs_ledgers").where({ job_id: jobId }).select("cells");
  return [...cellsIn(row.cells as Buffer)];
}

type Counts = Readonly<Record<string, number>>;

/** What the list tells as its total, where it does not count. */
async function countsOf(db: Knex): Promise<Counts> {
  const rows: { status: string; jobs: number }[] = await db("jobs_counts");
  const counts: Record<string, number> = {};
  for (const { status, jobs } of rows) counts[status] = (counts[status] ?? 0) + jobs;
  return counts;
}

function countedIn(jobs: readonly JobWithHistory[]): Counts {
  const counts: Record<string, number> = {};
  for (const { history } of jobs) {
    const { status } = viewOf(...history);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
