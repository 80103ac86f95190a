import { expect } from "chai";
import { Unavailable } from "../../../src/domain/unavailable.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { createScheduler } from "../../../src/turns/scheduler/scheduler.ts";
import { eventually } from "../../support/eventually.ts";
import { later } from "../../support/examples.ts";
import { storedTurns } from "../../support/stored-turns.ts";
import { startWriteSide, type WriteSide } from "../../support/write-side.ts";

describe("a job that may run at once", () => {
  let writeSide: WriteSide;

  beforeEach(async () => {
    writeSide = await startWriteSide();
  });
  afterEach(() => writeSide.cleanUp());

  const turns = async (job: JobRef) =>
    (await storedTurns(writeSide.connection, writeSide.nats.prefix)).filter(({ jobId }) => jobId === job.jobId);

  it("gets a turn in the lane of its priority, which names its cause", async () => {
    writeSide.startScheduler();
    const job = await writeSide.createJob(["ada@example.com"], { priority: "high" });
    const [turn] = await eventually(async () => {
      const found = await turns(job);
      expect(found).to.have.lengthOf(1);
      return found;
    });
    const [created] = await writeSide.log.readDecisions(job);
    expect(turn).to.deep.equal({
      ...job,
      place: "lane",
      run: 1,
      attempt: 1,
      opening: 0,
      type: "email.send",
      priority: "high",
      after: created?.sequence,
      cause: { id: created?.id, correlationId: null, traceparent: null },
      created,
    });
  });

  it("gets a turn although the scheduler died between the decision and the turn", async () => {
    const failures: unknown[] = [];
    const dying = writeSide.listen(
      createScheduler({ put: () => Promise.reject(new Unavailable("it died before the turn")) }),
      (failure) => failures.push(failure),
    );
    const job = await writeSide.createJob(["ada@example.com"]);
    await eventually(() => expect(failures).not.to.deep.equal([]));
    await dying.stop();
    expect(await turns(job)).to.deep.equal([]);

    writeSide.startScheduler();
    await eventually(async () => expect(await turns(job)).to.have.lengthOf(1));
  });

  it("gets one turn of two schedulers", async () => {
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
