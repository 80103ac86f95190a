import { expect } from "chai";
import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { exclusively } from "../../projections/following/projection-lock.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createReadModels } from "../../projections/read-models.ts";
import { readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { readRebuildRequests } from "../../projections/rebuilding/rebuild-requests.ts";
import { createDatabase } from "../../src/database/database.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated, jobStarted, now } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { tablesOf } from "../support/read-side.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

describe("a process of the projector role that is killed in the middle of a rebuild that was asked for", function () {
  this.timeout(120_000);

  let stage: Stage;
  let db: Knex;
  let opened: OpenedLog;
  const processes: WaybillProcess[] = [];

  before(async () => {
    stage = await setStage();
    db = createDatabase(stage.database.url);
    opened = await openJetStreamLog(stage.nats.config, stage.nats.prefix);
    for (const _ of [1, 2, 3]) await happen(opened.log, newJob(), [jobCreated(), jobStarted()]);
  });
  after(async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await opened.close();
    await db.destroy();
    await stage.cleanUp();
  });

  const start = async (): Promise<WaybillProcess> => {
    const started = await spawnWaybill(stage.surroundings, "projector", { LOG_LEVEL: "info" });
    processes.push(started);
    return started;
  };
  const rebuilds = (): number =>
    processes.flatMap((one) => one.output().split("\n")).filter((line) => line.includes("requested rebuild done"))
      .length;
  const stateOfJobs = async () => (await readTableSets(db, [jobsProjector]))[0];

  it("leaves it to the next one, which does it once, beside a rival", async () => {
    const first = await start();
    await eventually(async () => expect((await stateOfJobs())?.live?.sequence).to.equal(6), 20_000);
    const right = await tablesOf(db, jobsProjector);
    await exclusively(db, "jobs", async () => {
      await db("jobs").delete();
      await createReadModels(db, allProjectors).requestRebuild("jobs", "key:op1", now);
      // It has filled the new tables, and waits for its turn to put them in place.
      await eventually(async () => expect((await stateOfJobs())?.next?.sequence).to.equal(6), 20_000);
      await first.kill();
    });
    expect(await readRebuildRequests(db)).to.have.length(1);
    expect(await db("jobs").select()).to.deep.equal([]);
    await Promise.all([start(), start()]);
    await eventually(async () => expect(await readRebuildRequests(db)).to.deep.equal([]), 30_000);
    expect(await tablesOf(db, jobsProjector)).to.deep.equal(right);
    await eventually(() => expect(rebuilds()).to.equal(1));
    expect((await stateOfJobs())?.next).to.equal(null);
    expect(processes.map((one) => one.output()).join()).to.include('"actor":"key:op1"');
  });
});
