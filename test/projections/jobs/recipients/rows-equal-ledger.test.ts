import { expect } from "chai";
import fc from "fast-check";
import type { Knex } from "knex";
import type { Checkpoint } from "../../../../projections/following/checkpoint.ts";
import { createContentReader } from "../../../../projections/following/content-reader.ts";
import { type ProjectionPlace, projectBatch } from "../../../../projections/following/project-batch.ts";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createRecipientQueries } from "../../../../projections/jobs/recipients/queries.ts";
import { createTables, dropTables } from "../../../../projections/rebuilding/table-set.ts";
import { createJobView, type EventOfJob, evolveJobView, progressOf } from "../../../../src/domain/job/job-view.ts";
import { cell } from "../../../../src/domain/recipients/ledger.ts";
import { recipientStatusOf } from "../../../../src/domain/recipients/recipient-status.ts";
import { inBatches } from "../../../../src/event-log/batches.ts";
import type { JobRef, LogEvent } from "../../../../src/event-log/event-log.ts";
import { viewOf } from "../../../support/job-views.ts";
import { mixedHistories } from "../../../support/mixed-histories.ts";
import { runsOf } from "../../../support/property-runs.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../../support/read-side.ts";

type Batches = readonly (readonly LogEvent[])[];

const all = { statuses: [], email: null, page: 1, pageSize: 1000, cursor: null };

describe("the recipients of any histories of some jobs, cut into batches anywhere", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  it("stand as the ledger of each job says, with every outcome", async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(mixedHistories, async ({ jobs, batches }) => {
        await beginAnew(side.db);
        for (const { job } of jobs) await side.storeContent(job);
        await projectAll(side, batches);
        const queries = createRecipientQueries(side.db);
        for (const { job, history } of jobs) {
          const view = viewOf(...history);
          const { list } = await queries.ofJob(job, all);
          const statuses = list?.recipients.map(({ status }) => status) ?? [];
          expect(statuses).to.deep.equal(Array.from(view.ledger.cells, recipientStatusOf));
          expect(list?.recipients.map(({ email }) => email)).to.deep.equal(
            ["0", "1", "2"].map((n) => `${n}@example.com`),
          );
          const { total, sent, failed } = progressOf(view);
          expect(statuses.filter((status) => status === "sent")).to.have.length(sent);
          expect(statuses.filter((status) => status === "failed")).to.have.length(failed);
          expect(statuses).to.have.length(total);
          const { bounced, complained } = progressOf(view);
          expect(list?.recipients.filter(({ bouncedAt }) => bouncedAt !== null)).to.have.length(bounced);
          expect(list?.recipients.filter(({ complainedAt }) => complainedAt !== null)).to.have.length(complained);
          const { list: returned } = await queries.ofJob(job, { ...all, statuses: ["bounced"] });
          expect(returned?.recipients.map(({ recipient }) => recipient)).to.deep.equal(
            list?.recipients.filter(({ bouncedAt }) => bouncedAt !== null).map(({ recipient }) => recipient),
          );
          expect(await side.db("jobs").where({ id: job.jobId }).first("bounced", "complained")).to.include({
            bounced,
            complained,
          });
          expect(await countingIn(side.db, job)).to.deep.equal(countingOf(history));
        }
      }),
      { numRuns: runsOf(60) },
    );
  });

  it("are the same rows however they were cut", async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(mixedHistories, async ({ jobs, batches }) => {
        for (const { job } of jobs) await side.storeContent(job);
        await beginAnew(side.db);
        await projectAll(side, batches);
        const cut = await tablesOf(side.db, jobsProjector);
        await beginAnew(side.db);
        await projectAll(side, [...inBatches(batches.flat(), 1)]);
        expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(cut);
        await beginAnew(side.db);
        await projectAll(side, [batches.flat()]);
        expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(cut);
      }),
      { numRuns: runsOf(25) },
    );
  });
});

async function beginAnew(db: Knex): Promise<void> {
  await dropTables(db, jobsProjector, "");
  await createTables(db, jobsProjector, "");
}

async function projectAll({ db, contentStore }: ReadSide, batches: Batches): Promise<void> {
  const sources = { readContent: createContentReader(contentStore) };
  const place: ProjectionPlace = { db, projector: jobsProjector, suffix: "", sources };
  const { version } = jobsProjector;
  let checkpoint: Checkpoint = { sequence: 0, logCreatedAt: "2026-11-21T09:00:00Z", version };
  for (const batch of batches) checkpoint = await projectBatch(place, checkpoint, batch);
}

/** Of each recipient, which of its outcomes count, in order. */
async function countingIn(db: Knex, { jobId }: JobRef): Promise<readonly (readonly boolean[])[]> {
  const [job] = await db("jobs").where({ id: jobId }).select("place", "total");
  const rows = await db("recipients").where({ job: job.place }).whereNotNull("place").select("recipient", "place");
  const earlier = await db("recipients_earlier")
    .where({ job: job.place })
    .whereNotIn("status", ["bounced", "complained"])
    .select("recipient", "place", "counts");
  const counting: boolean[][] = Array.from({ length: job.total }, () => []);
  const found = [...rows, ...earlier] as { recipient: number; place: number; counts?: number }[];
  for (const { recipient, counts = 1 } of found.sort((one, other) => one.place - other.place)) {
    counting[recipient]?.push(counts === 1);
  }
  return counting;
}

const open: readonly (number | undefined)[] = [cell.pending, cell.claimed, cell.deferred, cell.leftOut];

/** The rule in its own words, beside the ledger: the first final outcome of a run stands, a first mail always counts. */
function countingOf([created, ...history]: readonly EventOfJob[]): readonly (readonly boolean[])[] {
  if (created?.type !== "JobCreated") throw new Error("The history does not begin with JobCreated.");
  let view = createJobView(created);
  const counting: boolean[][] = Array.from(view.ledger.cells, () => []);
  const hasLeft = new Set<number>();
  const isSettled = new Set<number>();
  for (const event of history) {
    view = evolveJobView(view, event);
    if (event.type === "JobRetried") {
      for (const recipient of counting.keys()) {
        if (open.includes(view.ledger.cells[recipient])) isSettled.delete(recipient);
      }
    }
    if (!("data" in event) || !("recipient" in event.data) || !("run" in event.data)) continue;
    const { recipient, run } = event.data;
    const isSent = event.type === "RecipientSent";
    const counts = isSent ? !hasLeft.has(recipient) : run === view.run && !isSettled.has(recipient);
    counting[recipient]?.push(counts);
    if (isSent) hasLeft.add(recipient);
    if (counts && event.type !== "RecipientDeferred") isSettled.add(recipient);
  }
  return counting;
}
