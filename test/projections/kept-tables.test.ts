import { expect } from "chai";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { rebuildLock } from "../../projections/following/projection-lock.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { Projector } from "../../projections/projector.ts";
import { confirmRebuilds, readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import { NothingToPutBack, rollBackRebuilds } from "../../projections/rebuilding/roll-back.ts";
import { createTables } from "../../projections/rebuilding/table-set.ts";
import { schedulesProjector } from "../../projections/schedules/projector.ts";
import { abandonConnection, openConnection } from "../../src/database/database.ts";
import { takeLock } from "../../src/database/database-lock.ts";
import { ask } from "../../src/database/session.ts";
import { eventually } from "../support/eventually.ts";
import { jobContentErased, later, now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { decide, draftMailing } from "../support/mailings.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { liveTables, openReadSide, type ReadSide, tablesOfBoth } from "../support/read-side.ts";
import { addSchedule, createClock, decideSchedule } from "../support/schedule-followers.ts";

const both = [jobsProjector, outcomesProjector];

describe("the old tables of a rebuild", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  const keptSequences = async () =>
    (await readTableSets(side.db, both)).map(({ kept }) => (kept === null ? null : Number(kept.sequence)));
  const rollBack = () => rollBackRebuilds(both, side.rebuildSetup());
  const tableNames = async (): Promise<string> => {
    const [rows] = await side.db.raw(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()",
    );
    return (rows as { name: string }[]).map(({ name }) => name).join(" ");
  };

  it("are kept until they are confirmed", async () => {
    await liveTables(side);
    const told: [string, boolean][] = [];
    await rebuild(both, side.rebuildSetup({ onRebuilt: (name, isKept) => told.push([name, isKept]) }));
    expect(told).to.have.deep.members([
      ["jobs", true],
      ["outcomes", true],
    ]);
    expect(await keptSequences()).to.deep.equal([18, 18]);
    expect(await confirmRebuilds(side.db, both)).to.deep.equal(["jobs", "outcomes"]);
    expect(await keptSequences()).to.deep.equal([null, null]);
    expect(await tableNames()).to.not.include("__");
    expect(await confirmRebuilds(side.db, both)).to.deep.equal([]);
    expect(await failureOf(rollBack())).to.be.instanceOf(NothingToPutBack);
  });

  it("are put back with everything that has come since, which counts once", async () => {
    await liveTables(side);
    await side.db("jobs").update({ name: "as it was" });
    await side.rebuild();
    side.startProjectors();
    for (const _ of [1, 2]) await side.mailing();
    await side.caughtUp();
    const rebuilt = await tablesOfBoth(side.db);
    await rollBack();
    expect(await side.db("jobs").where({ name: "as it was" }).select()).to.have.length(3);
    await side.mailing();
    await side.caughtUp();
    await side.db("jobs").where({ name: "as it was" }).update({ name: "November" });
    // What was put aside is kept in its turn, and put back the same way.
    await rollBack();
    expect(await side.db("jobs").select()).to.have.length(6);
    expect(await keptSequences()).to.deep.equal([36, 36]);
    const { lastSequence } = await side.log.state();
    expect(lastSequence).to.equal(36);
    const forward = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(forward);
    expect(rebuilt).to.not.deep.equal(forward);
  });

  it("are replaced by those of the next rebuild", async () => {
    await liveTables(side);
    await side.rebuild();
    await side.mailing();
    await side.rebuild();
    expect(await keptSequences()).to.deep.equal([18, 18]);
    await side.rebuild();
    expect(await keptSequences()).to.deep.equal([24, 24]);
    expect(await tableNames()).to.not.include("__dropped");
  });

  it("are only put back by the release that made them, all or none", async () => {
    await liveTables(side);
    await side.rebuild();
    await side.db(checkpointTable("outcomes", "__previous")).update({ version: 0 });
    const live = await tablesOfBoth(side.db);
    expect((await failureOf(rollBack())).message).to.include("of version 0");
    expect(await keptSequences()).to.deep.equal([18, 18]);
    await side.db.schema.dropTable("outcomes__previous");
    expect(await failureOf(rollBack())).to.be.instanceOf(NothingToPutBack);
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });

  it("are not put back where the log is another one, or has lost its end", async () => {
    await liveTables(side);
    await side.rebuild();
    const live = await tablesOfBoth(side.db);
    const state = await side.log.state();
    for (const changed of [{ createdAt: "2001-01-01T00:00:00.000Z" }, { lastSequence: state.lastSequence - 1 }]) {
      const log = { ...side.log, state: async () => ({ ...state, mayLag: false, ...changed }) };
      const failure = await failureOf(rollBackRebuilds(both, side.rebuildSetup({ log })));
      expect(failure).to.be.instanceOf(NothingToPutBack);
      expect(failure.message).to.include("from events that this log no longer has");
    }
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });

  it("go with the first erasure, and so does what an interrupted rebuild has left", async () => {
    await liveTables(side);
    const job = await side.mailing();
    await side.rebuild();
    await side.db.raw("CREATE TABLE jobs__next (id INT)");
    const runners = side.startProjectors();
    await side.happens(job, jobContentErased());
    await side.caughtUp();
    await Promise.all(runners.map((runner) => runner.stop()));
    expect(await tableNames()).to.not.include("__");
  });

  it("go once nobody reads them, if a session did so when something was erased, and the log says which", async () => {
    await liveTables(side);
    const job = await side.mailing();
    await side.rebuild();
    const reader = await openConnection(side.db);
    await ask(reader, "SET SESSION wait_timeout = 600");
    await ask(reader, "START TRANSACTION");
    await ask(reader, "SELECT id FROM jobs__previous");
    const [{ id }] = (await ask(reader, "SELECT CONNECTION_ID() AS id")) as [{ id: number }];
    side.startProjector(jobsProjector, { tidyEveryMs: 50 });
    await side.happens(job, jobContentErased());
    await side.caughtUp("jobs");
    expect((await side.db("recipients").whereNotNull("address").pluck("job")).length).to.equal(9);
    expect(await tableNames()).to.include("jobs__previous");
    await eventually(() => {
      const held = side.logged.filter(({ fields }) => String(fields["error"]).includes("jobs__previous is open"));
      expect(String(held[0]?.fields["error"])).to.match(new RegExp(`\\b${id} \\(`));
    });
    await ask(reader, "COMMIT");
    await eventually(async () => expect(await tableNames()).not.to.match(/\b(jobs|recipients)\w*__/));
    abandonConnection(reader);
  });

  it("of a rebuild that is killed go if something was erased meanwhile, and are left to it until then", async () => {
    await liveTables(side);
    const job = await side.mailing();
    const lock = await takeLock(side.db, { name: rebuildLock("jobs") }, 0);
    await createTables(side.db, jobsProjector, "__next");
    await createTables(side.db, jobsProjector, "__check");
    side.startProjector(jobsProjector, { tidyEveryMs: 50 });
    await side.happens(job, jobContentErased());
    await side.caughtUp("jobs");
    expect(await tableNames())
      .to.include("jobs__next")
      .and.include("jobs__check");
    lock?.release();
    await eventually(async () => expect(await tableNames()).not.to.include("__"));
  });

  it("of a rebuild that is killed stay for the next one if nothing was erased, and those of a check go", async () => {
    await liveTables(side);
    await createTables(side.db, jobsProjector, "__next");
    await createTables(side.db, jobsProjector, "__check");
    side.startProjector(jobsProjector, { tidyEveryMs: 50 });
    await eventually(async () => expect(await tableNames()).not.to.include("__check"));
    expect(await tableNames())
      .to.include("jobs__next")
      .and.include("jobs_checkpoint__next");
  });

  it("go with the letter of a mailing and with a schedule, before and after the rebuild", async () => {
    const projectors = [jobsProjector, schedulesProjector];
    const keptNames = async () => [...(await namesIn("mailings__previous")), ...(await namesIn("schedules__previous"))];
    const namesIn = async (table: string): Promise<readonly string[]> =>
      (await side.db.schema.hasTable(table)) ? await side.db(table).whereNotNull("name").pluck("name") : [];
    const make = async () => {
      const mailing = await draftMailing(side, "default", { name: "Secret" });
      return { mailing, schedule: await addSchedule({ ...side, clock: createClock(now) }) };
    };
    const erase = async ({ mailing, schedule }: Awaited<ReturnType<typeof make>>) => {
      await decide(side, mailing, { type: "RetireMailing", at: later, restingBefore: later, reason: "retention" });
      await decideSchedule({ ...side, clock: createClock(now) }, schedule, {
        type: "DeleteSchedule",
        at: later,
        reason: null,
      });
    };
    const runners = () => projectors.map((projector) => side.startProjector(projector as Projector));
    const stop = (some: ReturnType<typeof runners>) => Promise.all(some.map((runner) => runner.stop()));
    const first = await make();
    const before = runners();
    await side.caughtUp("jobs", "schedules");
    await stop(before);
    await side.rebuild(projectors as Projector[]);
    expect(await keptNames()).to.deep.equal(["Secret", "Weekly"]);
    const after = runners();
    await erase(first);
    const second = await make();
    await side.caughtUp("jobs", "schedules");
    await stop(after);
    expect(await keptNames()).to.deep.equal([]);
    // While the live projections stand still, a rebuild projects the erasures first.
    await erase(second);
    const told: boolean[] = [];
    await rebuild(projectors as Projector[], side.rebuildSetup({ onRebuilt: (_, isKept) => told.push(isKept) }));
    expect(told).to.deep.equal([false, false]);
    expect(await keptNames()).to.deep.equal([]);
  });

  it("are not kept where they hold what was erased while they stood still", async () => {
    await liveTables(side);
    const job = await side.mailing();
    await side.happens(job, jobContentErased());
    const told: boolean[] = [];
    await rebuild(both, side.rebuildSetup({ onRebuilt: (_, isKept) => told.push(isKept) }));
    expect(told).to.deep.equal([false, false]);
    expect(await tableNames()).to.not.include("__");
  });
});
