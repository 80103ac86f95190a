import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamDecisionFeed } from "../../src/event-log/jetstream-durable-feed.ts";
import { createOverflowLanes } from "../../src/scheduler/overflow-lanes.ts";
import { createScheduler } from "../../src/scheduler/scheduler.ts";
import { eventually } from "../support/eventually.ts";
import { later } from "../support/examples.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

describe("a job that may run at once", () => {
  let writeSide: WriteSide;

  beforeEach(async () => {
    writeSide = await startWriteSide();
  });
  afterEach(() => writeSide.cleanUp());

  const turns = async (job: JobRef) =>
    (await writeSide.log.readHistory(job)).filter(({ event }) => event.type === "JobQueued");

  it("is queued on the subject of its priority, by an event that names its cause", async () => {
    writeSide.startScheduler();
    const job = await writeSide.createJob(["ada@example.com"], { priority: "high" });
    const [turn] = await eventually(async () => {
      const found = await turns(job);
      expect(found).to.have.lengthOf(1);
      return found;
    });
    const [created] = await writeSide.log.readDecisions(job);
    expect(turn).to.include({ actor: "scheduler", causationId: created?.id });
    expect(turn?.event.data).to.deep.equal({
      run: 1,
      attempt: 1,
      opening: 0,
      type: "email.send",
      priority: "high",
      isCrowded: false,
    });
  });

  it("is queued although the scheduler died between the two events", async () => {
    const feed = createJetStreamDecisionFeed(writeSide.connection, writeSide.nats.prefix, "scheduler", () => {});
    const dying = createScheduler(
      { ...writeSide.log, record: () => Promise.reject(new Unavailable("it died before the second event")) },
      feed,
      createOverflowLanes(),
      (failure) => failures.push(failure),
    );
    const failures: unknown[] = [];
    dying.start();
    const job = await writeSide.createJob(["ada@example.com"]);
    await eventually(() => expect(failures).not.to.deep.equal([]));
    await dying.stop();
    expect(await turns(job)).to.deep.equal([]);

    writeSide.startScheduler();
    await eventually(async () => expect(await turns(job)).to.have.lengthOf(1));
  });

  it("is queued once by two schedulers", async () => {
    writeSide.startScheduler();
    writeSide.startScheduler();
    const jobs = await Promise.all(Array.from({ length: 20 }, () => writeSide.createJob(["ada@example.com"])));
    for (const job of jobs) await eventually(async () => expect(await turns(job)).to.have.lengthOf(1));
  });

  it("waits where it is scheduled for later", async () => {
    writeSide.startScheduler();
    const waiting = await writeSide.createJob(["ada@example.com"], { scheduledAt: later });
    const other = await writeSide.createJob(["ada@example.com"]);
    await eventually(async () => expect(await turns(other)).to.have.lengthOf(1));
    expect(await turns(waiting)).to.deep.equal([]);
  });
});
