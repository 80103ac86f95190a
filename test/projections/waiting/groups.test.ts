import { expect } from "chai";
import { waitingProjector } from "../../../projections/waiting/projector.ts";
import { createWaitingList } from "../../../projections/waiting/waiting-list.ts";
import type { OpenTurn } from "../../../src/domain/job/events.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import type { QueuedTurn } from "../../../src/turns/turns.ts";
import {
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobPaused,
  jobRescheduled,
  jobResumed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
} from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../support/read-side.ts";

const groupSha256 = "9".repeat(64);
const longAgo = "2001-01-01T00:00:00.000Z";
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("jobs of one group", () => {
  let side: ReadSide;
  let first: JobRef;
  let second: JobRef;
  let third: JobRef;

  beforeEach(async () => {
    side = await openReadSide();
    side.startProjector(waitingProjector);
    [first, second, third] = [newJob(), newJob(), newJob()];
  });
  afterEach(() => side.cleanUp());

  const create = async (...jobs: readonly JobRef[]): Promise<void> => {
    for (const job of jobs) await side.happens(job, jobCreated({ groupSha256 }, longAgo));
  };
  /** The turns that the scheduler puts now, as ids of jobs. */
  const released = async (): Promise<readonly string[]> => {
    await side.caughtUp("waiting");
    const turns: QueuedTurn[] = [];
    await createWaitingList(side.db).takeDue(100, async (turn) => void turns.push(turn));
    return turns.map(({ jobId }) => jobId);
  };
  const idsOf = (...jobs: readonly JobRef[]): readonly string[] => jobs.map(({ jobId }) => jobId);

  it("are released one by one, in the order in which they were created", async () => {
    await create(first, second, third);
    expect(await released()).to.deep.equal(idsOf(first));
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobStarted());
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobCompleted());
    expect(await released()).to.deep.equal(idsOf(second));
    await side.happens(second, jobStarted(), jobCompleted());
    expect(await released()).to.deep.equal(idsOf(third));
  });

  it("are released one by one by two schedulers at once", async () => {
    await create(first, second);
    await side.caughtUp("waiting");
    const both = await Promise.all([released(), released()]);
    expect(both.flat()).to.deep.equal(idsOf(first));
  });

  it("go on after one that failed, and after one that was cancelled before its turn", async () => {
    await create(first, second, third);
    await side.happens(second, jobCancelled());
    await side.happens(first, jobStarted(), jobFailed());
    expect(await released()).to.deep.equal(idsOf(third));
  });

  it("wait while the first of them is paused, or between two attempts", async () => {
    await create(first, second);
    await side.happens(first, jobPaused());
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobResumed({}, longAgo));
    expect(await released()).to.deep.equal(idsOf(first));
    await side.happens(first, jobStarted(), jobRetryScheduled({ nextAttemptAt: inAnHour() }));
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobStarted({ attempt: 2 }), jobCompleted({ attempt: 2 }));
    expect(await released()).to.deep.equal(idsOf(second));
  });

  it("wait for the time of the first of them, and for no other's", async () => {
    await side.happens(first, jobCreated({ groupSha256, scheduledAt: inAnHour() }));
    await create(second);
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobRescheduled({ groupSha256, scheduledAt: null }, longAgo));
    expect(await released()).to.deep.equal(idsOf(first));
  });

  it("stay in order where one behind the first is resumed or rescheduled", async () => {
    await create(first, second);
    expect(await released()).to.deep.equal(idsOf(first));
    await side.happens(second, jobPaused(), jobResumed({ groupSha256 }, longAgo));
    await side.happens(
      second,
      jobRescheduled({ groupSha256, opening: 2, scheduledAt: null, priority: "high" }, longAgo),
    );
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobStarted(), jobCompleted());
    expect(await released()).to.deep.equal(idsOf(second));
  });

  it("have one that is retried by hand come in behind the others", async () => {
    await create(first, second);
    await side.happens(first, jobStarted(), jobFailed());
    expect(await released()).to.deep.equal(idsOf(second));
    await side.happens(first, jobRetried({ groupSha256 }, longAgo));
    expect(await released()).to.deep.equal([]);
    await create(third);
    await side.happens(second, jobStarted(), jobCompleted());
    expect(await released()).to.deep.equal(idsOf(first));
    await side.happens(first, jobStarted({ run: 2 }), jobCompleted({ run: 2 }));
    expect(await released()).to.deep.equal(idsOf(third));
  });

  it("are released again where the scheduler died before it had put the turn", async () => {
    await create(first, second);
    await side.caughtUp("waiting");
    await createWaitingList(side.db).takeDue(100, () => Promise.reject(new Error("it died")));
    expect(await released()).to.deep.equal(idsOf(first));
  });

  it("are released again where their turn got lost, and no other with them", async () => {
    await create(first, second);
    expect(await released()).to.deep.equal(idsOf(first));
    const list = createWaitingList(side.db);
    expect(await list.restore(() => false)).to.equal(0);
    expect(await released()).to.deep.equal([]);
    expect(await list.restore(() => true)).to.equal(1);
    expect(await released()).to.deep.equal(idsOf(first));
    await side.happens(first, jobStarted());
    await side.caughtUp("waiting");
    expect(await list.restore(() => true)).to.equal(0);
  });

  it("stand in the same order after a rebuild", async () => {
    await create(first, second, third);
    await side.happens(first, jobStarted());
    await side.happens(second, jobPaused());
    await side.caughtUp("waiting");
    const before = await tablesOf(side.db, waitingProjector);
    await side.rebuild([waitingProjector]);
    expect(await tablesOf(side.db, waitingProjector)).to.deep.equal(before);
    expect(await released()).to.deep.equal([]);
    await side.happens(first, jobCompleted());
    await side.happens(second, jobResumed({ groupSha256 }, longAgo));
    expect(await released()).to.deep.equal(idsOf(second));
  });

  it("do not hold up those of another group, or of none", async () => {
    await create(first, second);
    await side.happens(third, jobCreated({ groupSha256: "8".repeat(64) }, longAgo));
    const alone = newJob();
    await side.happens(alone, jobCreated({ scheduledAt: longAgo }));
    expect([...(await released())].sort()).to.deep.equal([...idsOf(first, third, alone)].sort());
  });
});

describe("a job that was rescheduled while it waited", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    side.startProjector(waitingProjector);
  });
  afterEach(() => side.cleanUp());

  const due = async (): Promise<readonly OpenTurn[]> => {
    await side.caughtUp("waiting");
    const turns: QueuedTurn[] = [];
    await createWaitingList(side.db).takeDue(100, async (turn) => void turns.push(turn));
    return turns.map(({ run, attempt, opening, type, priority }) => ({ run, attempt, opening, type, priority }));
  };

  it("is not forgotten when it was queued for its former time at that very moment", async () => {
    const job = newJob();
    await side.happens(job, jobCreated({ scheduledAt: longAgo }), jobRescheduled({ scheduledAt: longAgo }));
    expect(await due()).to.deep.equal([{ run: 1, attempt: 1, opening: 1, type: "email.send", priority: "normal" }]);
  });

  it("waits no longer for its former time", async () => {
    const job = newJob();
    await side.happens(job, jobCreated({ scheduledAt: longAgo }), jobRescheduled({ scheduledAt: inAnHour() }));
    expect(await due()).to.deep.equal([]);
    await side.happens(job, jobRescheduled({ scheduledAt: longAgo, opening: 2 }));
    expect(await due()).to.deep.equal([{ run: 1, attempt: 1, opening: 2, type: "email.send", priority: "normal" }]);
  });
});
