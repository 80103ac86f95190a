import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { rebuildLock } from "../../projections/following/projection-lock.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { Projector } from "../../projections/projector.ts";
import { type Checked, checkRows, NotComparable } from "../../projections/rebuilding/check-rows.ts";
import { RebuildRefused } from "../../projections/rebuilding/rebuild-lock.ts";
import { abandonConnection, createDatabase, openConnection } from "../../src/database/database.ts";
import { type HeldLock, takeLock } from "../../src/database/database-lock.ts";
import { ask } from "../../src/database/session.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { liveTables, openReadSide, type ReadSide, tablesOfBoth } from "../support/read-side.ts";

const both = [jobsProjector, outcomesProjector];

describe("a check of the rows", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  const check = async (projectors: readonly Projector[] = both, db = side.db): Promise<readonly Checked[]> => {
    const checked: Checked[] = [];
    await checkRows(projectors, { ...side.rebuildSetup({ db }), onChecked: (one) => checked.push(one) });
    return [...checked].sort((one, other) => (one.projection < other.projection ? -1 : 1));
  };

  it("finds nothing where they are as the log says, in any read model, and leaves nothing behind", async () => {
    const runners = allProjectors.map((projector) => side.startProjector(projector));
    await side.caughtUp(...allProjectors.map(({ name }) => name));
    await Promise.all(runners.map((runner) => runner.stop()));
    const checked = await check(allProjectors);
    expect(checked.map(({ sequence, differences }) => ({ sequence, differences }))).to.deep.equal(
      allProjectors.map(() => ({ sequence: 18, differences: [] })),
    );
    expect(checked.map(({ projection }) => projection)).to.have.members(allProjectors.map(({ name }) => name));
    const [tables] = await side.db.raw("SHOW TABLES LIKE '%\\_\\_check'");
    expect(tables).to.deep.equal([]);
  });

  it("names the rows and columns that differ, and changes nothing", async () => {
    await liveTables(side);
    const [changed, lost] = (await side.db("jobs").orderBy("id").pluck("id")) as [string, string];
    await side.db("jobs").where({ id: changed }).update({ subject: "your invoice", sent: 7, error_code: null });
    await side.db("jobs_content").where({ job_id: lost }).delete();
    const surplus = { tenant: "globex", status: "failed", type: "email", priority: "low" };
    await side.db("jobs_counts").insert({ ...surplus, jobs: 1, retired: 0, unsent: 0 });
    const before = await tablesOfBoth(side.db);
    const [jobs, outcomes] = await check();
    expect(outcomes?.differences).to.deep.equal([]);
    expect(jobs?.differences).to.deep.equal([
      {
        table: "jobs",
        key: { id: changed },
        kind: "changed",
        columns: {
          subject: { live: "your invoice", log: "Your invoice" },
          sent: { live: 7, log: 1 },
          error_code: { live: null, log: "too-many-failures" },
        },
      },
      {
        table: "jobs_counts",
        key: surplus,
        kind: "surplus",
        columns: {},
      },
      { table: "jobs_content", key: { job_id: lost }, kind: "missing", columns: {} },
    ]);
    expect(await tablesOfBoth(side.db)).to.deep.equal(before);
  });

  it("may take longer to compare tables than a server may be silent", async () => {
    await liveTables(side);
    const hasty = createDatabase(side.url, { silenceMs: 1500 });
    const holder = await openConnection(side.db);
    try {
      await ask(holder, "LOCK TABLES jobs WRITE");
      const checking = check([jobsProjector], hasty);
      checking.catch(() => {});
      await eventually(async () => {
        const [rows] = await side.db.raw("SHOW PROCESSLIST");
        const waits = (rows as { Info: string | null; Time: number }[]).filter(
          ({ Info, Time }) => Info?.includes("jobs__check") && Time >= 3,
        );
        expect(waits).to.have.length(1);
      });
      await ask(holder, "UNLOCK TABLES");
      expect((await checking).map(({ differences }) => differences)).to.deep.equal([[]]);
    } finally {
      abandonConnection(holder);
      await hasty.destroy();
    }
  });

  it("compares as of one event, while the live projection goes on", async () => {
    side.startProjectors();
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await side.mailing();
        // A log in memory does not yield to other work.
        await pause(5);
      }
    })();
    const first = await check().finally(() => {
      isOver = true;
    });
    await writing;
    expect(first.map(({ differences }) => differences)).to.deep.equal([[], []]);
    await side.mailing();
    await side.caughtUp();
    expect((await check()).every(({ sequence }, at) => sequence > (first[at]?.sequence ?? 0))).to.equal(true);
  });

  it("leaves the tables of another check alone, if it has lost its lock to that one", async () => {
    await liveTables(side);
    const isUsed = "SELECT IS_USED_LOCK(CONCAT('waybill-', LEFT(SHA2(CONCAT(DATABASE(), ?), 256), 48))) AS holder";
    let other: HeldLock | null = null;
    const state = async () => {
      if (other === null) {
        const [[{ holder }]] = await side.db.raw(isUsed, ["/rebuild/jobs"]);
        await side.db.raw("KILL ?", [holder]);
        other = await takeLock(side.db, { name: rebuildLock("jobs") }, 5000);
      }
      return side.log.state();
    };
    const { db, sources } = side.rebuildSetup();
    const setup = { db, sources, log: { ...side.log, state }, onProgress: () => {}, onChecked: () => {} };
    await checkRows([jobsProjector], setup).catch(() => {});
    expect(await side.db.schema.hasTable("jobs__check")).to.equal(true);
    (other as HeldLock | null)?.release();
  });

  it("stops where the live rows stand still, however far the log has come", async () => {
    await liveTables(side);
    await side.mailing();
    expect((await check()).map(({ sequence, differences }) => [sequence, differences])).to.deep.equal([
      [18, []],
      [18, []],
    ]);
  });

  it("is refused for rows of another version or another log, and beside a rebuild", async () => {
    await liveTables(side);
    await side.db(checkpointTable("outcomes")).update({ log_created_at: "2020-01-01T00:00:00.000Z" });
    expect(await failureOf(check())).to.be.instanceOf(NotComparable);
    await side.db(checkpointTable("outcomes")).update({ version: 0 });
    expect((await failureOf(check())).message).to.include("version 0");
    // The server frees the lock of the check before a moment after it has ended.
    const lock = await takeLock(side.db, { name: rebuildLock("jobs") }, 5000);
    if (lock === null) throw new Error("The lock is held elsewhere.");
    expect(await failureOf(check())).to.be.instanceOf(RebuildRefused);
    lock.release();
  });
});
