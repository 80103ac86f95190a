import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { readStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { toJobRecord } from "../../src/domain/job/job-record.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { shareFollowing } from "../../src/event-log/following/share-following.ts";
import { eventually } from "../support/eventually.ts";
import { jobStarted } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { viewOf } from "../support/job-views.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { exampleJobContent, openReadSide, type ReadSide, tablesOfBoth } from "../support/read-side.ts";

const projectors = [...allProjectors, outcomesProjector];
const everyName = projectors.map(({ name }) => name);

describe("projections of one process, which share what they read", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
  });
  afterEach(() => side.cleanUp());

  /** All of them, as in a process of its own. */
  const startProcess = () => {
    const log = shareFollowing(side.log);
    return projectors.map((projector) => side.startProjector(projector, { log }));
  };

  const expectRowsOf = async (jobs: readonly JobRef[]): Promise<void> => {
    for (const job of jobs) {
      const history = await side.log.readHistory(job);
      const record = toJobRecord(job.jobId, viewOf(...history.map(({ event }) => event)), exampleJobContent);
      expect((await createJobQueries(side.db).find(job)).job).to.deep.equal(record);
    }
    expect(await side.db("outcomes").count({ rows: "*" })).to.deep.equal([{ rows: jobs.length * 3 }]);
  };

  it("hold what the fold of each history shows", async () => {
    const jobs = [await side.mailing(), await side.mailing()];
    startProcess();
    for (let round = 0; round < 20; round += 1) jobs.push(await side.mailing());
    await side.caughtUp(...everyName);
    await expectRowsOf(jobs);
    const live = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });

  it("go on where one of them has stopped", async () => {
    startProcess();
    const job = await side.mailing();
    await side.caughtUp(...everyName);
    const before = await tablesOfBoth(side.db);
    await happen(side.log, { ...job, tenant: "globex" }, [jobStarted()]);
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }));
    await side.mailing();
    await side.caughtUp("outcomes", "waiting", "dead-letters");
    expect((await tablesOfBoth(side.db))[0]).to.deep.equal(before[0]);
  });

  it("are taken over whole by another process that stands by", async () => {
    const active = startProcess();
    const jobs = [await side.mailing()];
    await side.caughtUp(...everyName);
    startProcess();
    await Promise.all(active.map(({ stop }) => stop()));
    for (let round = 0; round < 5; round += 1) jobs.push(await side.mailing());
    await side.caughtUp(...everyName);
    await expectRowsOf(jobs);
  });

  it("may be active in different processes, each of them in one", async () => {
    const first = shareFollowing(side.log);
    side.startProjector(jobsProjector, { log: first });
    side.startProjector(outcomesProjector, { log: shareFollowing(side.log) });
    const jobs = [await side.mailing(), await side.mailing()];
    await side.caughtUp();
    await expectRowsOf(jobs);
  });
});
