import { expect } from "chai";
import { readStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { openReadSide, type ReadSide, tablesOf } from "../support/read-side.ts";

describe("a log that is not the one the rows came from", () => {
  const createdAt = "2026-11-21T09:00:00.123456789Z";
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide(createMemoryEventLog(createdAt));
    const runner = side.startProjector(jobsProjector);
    for (const _ of [1, 2, 3]) await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    await runner.stop();
  });
  afterEach(() => side.cleanUp());

  const otherLog = async (itsCreatedAt: string, jobs: number): Promise<EventLog> => {
    const log = createMemoryEventLog(itsCreatedAt);
    for (let job = 0; job < jobs; job += 1) await happen(log, newJob(), [jobCreated()]);
    return log;
  };

  const believedMs = 500;

  const stopsWith = async (log: EventLog, reason: string): Promise<void> => {
    const before = await tablesOf(side.db, jobsProjector);
    side.startProjector(jobsProjector, { log, believedMs });
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }));
    const status = await readStatus(side.db, "jobs");
    expect(status?.error).to.include(reason).and.to.include("waybill rebuild jobs");
    expect(status).to.include({ stoppedAtSequence: null });
    expect(side.logged.filter(({ level }) => level === "error")).to.have.length(1);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(before);
  };

  it("stops the projection where it was created anew, however far it has come", async () => {
    const anew = "2026-11-21T10:00:00Z";
    await stopsWith(await otherLog(anew, 10), `a log created at ${createdAt}; this one was created at ${anew}`);
  });

  it("stops the projection where it ends before the checkpoint", async () => {
    await stopsWith(await otherLog(createdAt, 2), "jobs has come to event 3; the log ends with 2");
  });

  /** The same log, whose end is said to be before where it is. */
  const behind = (by: () => number): EventLog => ({
    ...side.log,
    state: async () => {
      const state = await side.log.state();
      return { ...state, lastSequence: state.lastSequence - by() };
    },
  });

  it("waits for a leader that has not come to the checkpoint yet, and goes on", async () => {
    let missing = 3;
    let asked = 0;
    const log = behind(() => {
      asked += 1;
      return missing;
    });
    side.startProjector(jobsProjector, { log });
    await eventually(() => expect(asked).to.be.greaterThan(3));
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live" });
    missing = 0;
    await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    expect(side.logged.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  it("does not take a change of leader while it is followed for a log that has lost its end", async () => {
    let missing = 0;
    let askedMeanwhile = 0;
    const log = behind(() => {
      if (missing > 0) askedMeanwhile += 1;
      return missing;
    });
    side.startProjector(jobsProjector, { log });
    await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    missing = 3;
    await eventually(() => expect(askedMeanwhile).to.be.greaterThan(1), 15_000);
    missing = 0;
    await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live" });
    expect(side.logged.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  it("stops the projection while it is followed, too, though nothing is appended", async () => {
    let createdWhen = createdAt;
    const log = { ...side.log, state: async () => ({ ...(await side.log.state()), createdAt: createdWhen }) };
    side.startProjector(jobsProjector, { log });
    await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    createdWhen = "2026-11-21T10:00:00Z";
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }), 15_000);
  });

  it("is taken for the right one by a rebuild, and the projection goes on with it", async () => {
    const log = await otherLog("2026-11-21T10:00:00Z", 1);
    await stopsWith(log, "this one was created at 2026-11-21T10:00:00Z");
    await side.rebuild([jobsProjector], log);
    const job = newJob();
    const sequence = await happen(log, job, [jobCreated()]);
    expect(await side.positions.waitFor("jobs", sequence, 10_000)).to.equal(true);
    expect(await side.positions.current("jobs")).to.equal(2);
    expect((await createJobQueries(side.db).find(job)).job).to.include({ status: "queued" });
  });

  it("does not matter where nothing was projected yet", async () => {
    const fresh = await openReadSide(await otherLog("2026-11-21T10:00:00Z", 1));
    try {
      fresh.startProjector(jobsProjector);
      await fresh.caughtUp("jobs");
    } finally {
      await fresh.cleanUp();
    }
  });
});
