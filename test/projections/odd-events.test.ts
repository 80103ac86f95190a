import { expect } from "chai";
import { readStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { type Alteration, alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated, jobStarted, recipientSent, recipientsClaimed } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

describe("an odd event in the log", () => {
  let side: ReadSide;
  let log: EventLog;
  let alteration: Alteration = (entry) => entry;
  const job = newJob();

  beforeEach(async () => {
    alteration = (entry) => entry;
    log = createMemoryEventLog();
    side = await openReadSide(alteredLog(log, (entry) => alteration(entry)));
    await side.storeContent(job);
    // Events 1 to 5.
    const sent = [recipientSent(), recipientSent({ recipient: 1 })];
    await happen(log, job, [jobCreated(), jobStarted(), recipientsClaimed(), ...sent]);
  });
  afterEach(() => side.cleanUp());

  const found = (of: JobRef = job) => createJobQueries(side.db).find(of);

  it("of a type that this release does not know is passed over", async () => {
    alteration = (entry) =>
      [2, 5].includes(entry.sequence)
        ? { ...job, sequence: entry.sequence, index: 0, unknownType: "JobAdmired" }
        : entry;
    side.startProjectors();
    await side.caughtUp();
    expect((await found()).job?.progress).to.include({ sent: 1, pending: 2 });
    expect((await found()).readSequence).to.equal(5);
  });

  it("may be missing altogether", async () => {
    alteration = (entry) => (entry.sequence === 4 ? "gap" : entry);
    side.startProjectors();
    await side.caughtUp();
    expect((await found()).job?.progress).to.include({ sent: 1, pending: 2 });
  });

  it("that cannot be decoded stops projections right before it, loudly, until it can be", async () => {
    alteration = (entry) => (entry.sequence === 4 ? "undecodable" : entry);
    side.startProjector(jobsProjector);
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }));

    expect(await readStatus(side.db, "jobs")).to.deep.equal({
      status: "stopped",
      stoppedAtSequence: 4,
      error: "Event 4 of the log cannot be decoded: it was altered",
    });
    expect(side.logged.filter(({ level }) => level === "error")).to.deep.equal([
      {
        level: "error",
        message: "projection stopped",
        fields: {
          projection: "jobs",
          sequence: 4,
          error: "Event 4 of the log cannot be decoded: it was altered",
        },
      },
    ]);
    expect(await found()).to.deep.include({ readSequence: 3 });
    expect((await found()).job?.status).to.equal("processing");

    // A newer release, which knows how to read it, takes over beside the one that does not.
    side.startProjector(jobsProjector, { log });
    await side.caughtUp("jobs");
    expect((await found()).job?.progress).to.include({ sent: 2 });
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "live", error: null }));
  });

  it("that one projection cannot take stops this one right before it, and no other", async () => {
    side.startProjectors();
    await side.caughtUp();
    const thief = { ...job, tenant: "globex" };
    await happen(log, thief, [jobStarted(), recipientSent({ recipient: 2 })]);
    const other = newJob();
    await side.storeContent(other);
    await happen(log, other, [jobCreated(), recipientSent()]);

    await side.caughtUp("outcomes");
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }));
    expect(await readStatus(side.db, "jobs")).to.include({ stoppedAtSequence: 6 });
    expect(await readStatus(side.db, "outcomes")).to.include({ status: "live" });
    expect((await found()).readSequence).to.equal(5);
    expect((await found(other)).job).to.equal(null);
  });

  it("in a content stops the projection that has to read it, and its words are nowhere", async () => {
    const broken = newJob();
    await side.contentStore.put(broken, new TextEncoder().encode("{ ada@example.com"));
    await happen(log, broken, [jobCreated()]);
    side.startProjectors();
    await side.caughtUp("outcomes");
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ stoppedAtSequence: 6 }));
    expect(JSON.stringify([await readStatus(side.db, "jobs"), side.logged])).to.not.include("ada@");
  });

  it("does not stop the projection for good: it goes on once it was rebuilt", async () => {
    alteration = (entry) => (entry.sequence === 4 ? "undecodable" : entry);
    side.startProjector(jobsProjector);
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "stopped" }));
    alteration = (entry) => entry;
    await side.rebuild([jobsProjector], log);
    expect((await found()).job?.progress).to.include({ sent: 2 });
    await happen(log, job, [recipientSent({ recipient: 2 })]);
    await side.caughtUp("jobs");
    expect((await found()).job?.progress).to.include({ sent: 3 });
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live", error: null });
  });
});
