import { expect } from "chai";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { CheckpointMoved, type ProjectionPlace, projectBatch } from "../../projections/following/project-batch.ts";
import { readStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { JobRef, LogEvent } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { readOn } from "../support/following.ts";
import { openReadSide, type ReadSide, tablesOf, tablesOfBoth } from "../support/read-side.ts";

describe("an event that is projected", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
  });
  afterEach(() => side.cleanUp());

  const placeOf = (projector = jobsProjector): ProjectionPlace => ({
    db: side.db,
    projector,
    suffix: "",
    sources: { readContent: createContentReader(side.contentStore) },
  });

  const wholeLog = async (): Promise<readonly LogEvent[]> => {
    const { lastSequence } = await side.log.state();
    return readOn(side.log, 0, (read) => read.at(-1)?.sequence === lastSequence);
  };

  it("counts once when the projector is stopped and started between any two batches", async () => {
    for (let round = 0; round < 5; round += 1) {
      const runners = side.startProjectors();
      await side.mailing();
      await Promise.all(runners.map((runner) => runner.stop()));
    }
    side.startProjectors();
    await side.caughtUp();
    const live = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(live).to.deep.equal(await tablesOfBoth(side.db));
  });

  it("counts once however often connections are killed in the middle", async function () {
    this.timeout(120_000);
    side.startProjectors();
    const jobs: JobRef[] = [];
    for (let round = 0; round < 40; round += 1) {
      jobs.push(await side.mailing());
      if (round % 4 === 0) await killConnections(side);
    }
    await eventually(() => side.caughtUp(), 30_000);
    expect(await side.db("recipients").count({ rows: "*" })).to.deep.equal([{ rows: jobs.length * 3 }]);
    const live = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(live).to.deep.equal(await tablesOfBoth(side.db));
    for (const projection of ["jobs", "outcomes"]) {
      expect(await readStatus(side.db, projection)).to.include({ status: "live" });
    }
  });

  it("leaves no trace when its batch is not committed", async () => {
    await side.mailing();
    const entries = await wholeLog();
    const before = await tablesOf(side.db, jobsProjector);
    const dyingBeforeTheEnd = {
      ...jobsProjector,
      project: async (...batch: Parameters<typeof jobsProjector.project>) => {
        await jobsProjector.project(...batch);
        await batch[1].transaction.raw("KILL CONNECTION_ID()");
      },
    };
    const from = { sequence: 0, logCreatedAt: null, version: jobsProjector.version };
    await failureOf(projectBatch(placeOf(dyingBeforeTheEnd), from, entries));
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(before);
  });

  it("is refused to an instance that does not know that another one went on", async () => {
    await side.mailing();
    const entries = await wholeLog();
    const from = { sequence: 0, logCreatedAt: "then", version: jobsProjector.version };
    const reached = await projectBatch(placeOf(), from, entries.slice(0, 4));
    const before = await tablesOf(side.db, jobsProjector);

    expect(await failureOf(projectBatch(placeOf(), from, entries))).to.be.instanceOf(CheckpointMoved);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(before);

    await projectBatch(placeOf(), reached, entries.slice(4));
    expect(await side.db("recipients").count({ rows: "*" })).to.deep.equal([{ rows: 3 }]);
  });

  it("is refused to a release whose tables were replaced by another's", async () => {
    await side.mailing();
    const entries = await wholeLog();
    await side.db(checkpointTable("jobs")).update({ version: jobsProjector.version + 1 });
    const failure = await failureOf(
      projectBatch(placeOf(), { sequence: 0, logCreatedAt: null, version: jobsProjector.version }, entries),
    );
    expect(failure).to.be.instanceOf(CheckpointMoved);
  });
});

/** Those of the projectors, not the one that this test asks with. */
async function killConnections({ db }: ReadSide): Promise<void> {
  const [rows] = await db.raw(
    "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
  );
  for (const { id } of rows as { id: number }[]) await db.raw("KILL ?", [id]).catch(() => {});
}
