import { expect } from "chai";
import { createReadPositions } from "../../projections/following/read-position.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryAnnouncements } from "../support/memory/memory-announcements.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

describe("waiting for a read model", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  it("is over at once where it is there already", async () => {
    expect(await side.positions.current("jobs")).to.equal(0);
    expect(await side.positions.waitFor("jobs", 0, 0)).to.equal(true);
  });

  it("is in vain where nothing comes, and takes no longer than it may", async () => {
    const startedAt = Date.now();
    expect(await side.positions.waitFor("jobs", 1, 100)).to.equal(false);
    expect(Date.now() - startedAt).to.be.within(90, 5000);
  });

  it("is over as soon as the announcement is heard", async () => {
    const waiting = side.positions.waitFor("jobs", 3, 10_000);
    await side.positions.current("jobs");
    side.announcements.announce("jobs", 2);
    side.announcements.announce("logs", 9);
    const startedAt = Date.now();
    side.announcements.announce("jobs", 3);
    expect(await waiting).to.equal(true);
    expect(Date.now() - startedAt).to.be.lessThan(5000);
  });

  it("ends well though the announcement was lost, at the latest at the deadline", async () => {
    side.startProjector(jobsProjector);
    const sequence = await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    const deaf = createReadPositions(side.db, createMemoryAnnouncements());
    const waiting = deaf.waitFor("jobs", sequence + 1, 2000);
    await side.happens(newJob(), jobCreated());
    await side.caughtUp("jobs");
    expect(await waiting).to.equal(true);
  });

  it("sees what was committed: a job is there once the wait is over", async () => {
    for (let round = 0; round < 20; round += 1) {
      const sequence = await side.happens(newJob(), jobCreated());
      expect(await side.positions.waitFor("jobs", sequence, 10_000)).to.equal(true);
      expect(await side.db("jobs").where({ last_sequence: sequence }).select()).to.have.length(1);
    }
  });
});
