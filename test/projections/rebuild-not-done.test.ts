import { expect } from "chai";
import { UnprojectableEvent } from "../../projections/following/project-batch.ts";
import { rebuildLock } from "../../projections/following/projection-lock.ts";
import { readStatus, writeStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { RebuildRefused } from "../../projections/rebuilding/rebuild-lock.ts";
import { createTables } from "../../projections/rebuilding/table-set.ts";
import { takeLock } from "../../src/database/database-lock.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import { jobStarted } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { liveTables, openReadSide, type ReadSide, tablesOf, tablesOfBoth } from "../support/read-side.ts";

describe("a rebuild that is not done", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  it("because another one of the same projection is running changes nothing", async () => {
    const lock = await takeLock(side.db, { name: rebuildLock("jobs") }, 0);
    const live = await liveTables(side);
    expect(await failureOf(side.rebuild())).to.be.instanceOf(RebuildRefused);
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    lock?.release();
  });

  it("because it was killed while it made its tables leaves the old ones, and the next one begins afresh", async () => {
    const live = await liveTables(side);
    await createTables(side.db, jobsProjector, "__next");
    await createTables(side.db, jobsProjector, "__previous");
    await side.db("jobs_checkpoint__next").update({ sequence: 17 });
    await side.db.schema.dropTable("jobs_ledgers__next");
    await writeStatus(side.db, jobsProjector, { status: "rebuilding" });

    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    side.startProjectors();
    await side.mailing();
    await side.caughtUp();
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "live" }));
    const onward = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(onward);
  });

  it("because it lost the lock of the live tables leaves them as others have written them since", async () => {
    const live = await liveTables(side);
    const isUsed = "SELECT IS_USED_LOCK(CONCAT('waybill-', LEFT(SHA2(CONCAT(DATABASE(), ?), 256), 48))) AS holder";
    const holderOf = async (lock: string): Promise<number | null> => (await side.db.raw(isUsed, [lock]))[0][0].holder;
    // The last that it asks of the log, before it puts its tables in place.
    const state = async () => {
      const holder = await holderOf("/live/jobs");
      if (holder !== null) await side.db.raw("KILL ?", [holder]);
      return side.log.state();
    };
    await failureOf(side.rebuild([jobsProjector], { ...side.log, state }));
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    expect((await readTableSets(side.db, [jobsProjector]))[0]?.next?.sequence).to.equal(18);
  });

  it("because it failed leaves the old tables and says why", async () => {
    const live = await liveTables(side);
    const broken = alteredLog(side.log, (entry) => (entry.sequence === 9 ? "undecodable" : entry));
    expect((await failureOf(side.rebuild([jobsProjector], broken))).message).to.include("Event 9 of the log");
    const away = {
      ...side.log,
      state: async () => {
        throw new Unavailable("NATS did not answer.");
      },
    };
    expect(await failureOf(side.rebuild([jobsProjector], away))).to.be.instanceOf(Unavailable);
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live" });
  });

  it("because one projection cannot take an event leaves its old tables, and the others are rebuilt", async () => {
    const live = await liveTables(side);
    const job = await side.mailing();
    await side.happens({ ...job, tenant: "globex" }, jobStarted());
    const failure = await failureOf(side.rebuild());
    expect(failure).to.be.instanceOf(UnprojectableEvent);
    expect(failure.message).to.include("cannot be projected by jobs");
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(live[0]);
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live" });
    expect(await side.positions.current("outcomes")).to.equal((await side.log.state()).lastSequence);
  });
});
