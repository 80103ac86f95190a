import { expect } from "chai";
import type { Knex } from "knex";
import { becomeActive } from "../../projections/following/projection-lock.ts";
import type { ProjectorRunner } from "../../projections/following/run-projector.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createDatabase } from "../../src/database/database.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

describe("several instances of one projection", () => {
  let side: ReadSide;
  let instances: readonly ProjectorRunner[];
  beforeEach(async () => {
    side = await openReadSide();
    instances = [1, 2, 3].map(() => side.startProjector(jobsProjector));
    await eventually(async () => expect(await holderOf(side.db)).to.not.equal(null));
  });
  afterEach(() => side.cleanUp());

  const goesOn = async (): Promise<void> => {
    const job = newJob();
    await side.happens(job, jobCreated());
    await side.caughtUp("jobs");
    expect((await createJobQueries(side.db).find(job)).job).to.include({ status: "queued" });
  };

  it("take turns: when the active one stops, another takes over within two seconds", async () => {
    await goesOn();
    for (const instance of instances.slice(0, 2)) {
      await instance.stop();
      const stoppedAt = Date.now();
      await goesOn();
      // Two seconds, on a machine that has time for it.
      expect(Date.now() - stoppedAt).to.be.lessThan(8000);
    }
  });

  it("take over when the server loses the active one", async () => {
    await side.db.raw("KILL ?", [await holderOf(side.db)]);
    await goesOn();
  });

  it("leave the lock to the next as soon as they have stopped", async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    const lock = await becomeActive(side.db, "jobs", AbortSignal.timeout(20_000));
    expect(lock?.over.aborted).to.equal(false);
    lock?.release();
  });

  it("may be started and stopped again and again, and twice", async () => {
    const [first, ...others] = instances;
    await Promise.all(others.map((instance) => instance.stop()));
    first?.start();
    await Promise.all([first?.stop(), first?.stop()]);
    await first?.stop();
    first?.start();
    await goesOn();
  });

  it("of another database on the same server do not stand in their way", async () => {
    const other = await openReadSide();
    try {
      other.startProjector(jobsProjector);
      await other.happens(newJob(), jobCreated());
      await other.caughtUp("jobs");
    } finally {
      await other.cleanUp();
    }
  });

  it("stop waiting when they are told to", async () => {
    const db = createDatabase(side.url);
    const waiting = new AbortController();
    const lock = becomeActive(db, "jobs", waiting.signal);
    waiting.abort();
    expect(await lock).to.equal(null);
    await db.destroy();
  });
});

/** The connection that holds the lock of the active instance. */
async function holderOf(db: Knex): Promise<number | null> {
  const sql =
    "SELECT IS_USED_LOCK(CONCAT('waybill-', LEFT(SHA2(CONCAT(DATABASE(), '/live/jobs'), 256), 48))) AS holder";
  const [rows] = await db.raw(sql);
  return rows[0].holder;
}
