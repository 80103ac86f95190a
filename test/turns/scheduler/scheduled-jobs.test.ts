import { expect } from "chai";
import { waitingProjector } from "../../../projections/waiting/projector.ts";
import { createWaitingList } from "../../../projections/waiting/waiting-list.ts";
import type { PollLoop } from "../../../src/process/poll-loop.ts";
import { createTimer } from "../../../src/turns/scheduler/timer.ts";
import type { QueuedTurn } from "../../../src/turns/turns.ts";
import { eventually } from "../../support/eventually.ts";
import { jobCreated } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const jobs = 3000;
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("thousands of jobs that wait for their time", () => {
  let side: ReadSide;
  const timers: PollLoop[] = [];
  beforeEach(async () => {
    side = await openReadSide();
    side.startProjector(waitingProjector);
  });
  afterEach(async () => {
    for (const timer of timers.splice(0)) await timer.stop();
    await side.cleanUp();
  });

  const startTimer = (): PollLoop => {
    const report = (failure: unknown): void => void reported.push(failure);
    const put = async ({ jobId }: QueuedTurn): Promise<void> => void puts.push({ jobId, atMs: Date.now() });
    const timer = createTimer(put, createWaitingList(side.db), report);
    timers.push(timer);
    timer.start();
    return timer;
  };
  const reported: unknown[] = [];
  const puts: { readonly jobId: string; readonly atMs: number }[] = [];

  it("get one turn each when it has come and never before, whichever of two schedulers is stopped", async function () {
    this.timeout(120_000);
    const dueAtMs = Date.now() + 2000;
    for (let index = 0; index < jobs; index += 1) {
      const scheduledAt = index % 2 === 0 ? new Date(dueAtMs).toISOString() : inAnHour();
      await side.happens(newJob(), jobCreated({ scheduledAt }));
    }
    const first = startTimer();
    startTimer();
    await side.caughtUp("waiting");
    await eventually(() => expect(puts).not.to.deep.equal([]), 20_000);
    await first.stop();
    await eventually(async () => expect(await due()).to.equal(0), 30_000);
    expect(puts).to.have.lengthOf(jobs / 2);
    expect(new Set(puts.map(({ jobId }) => jobId)).size).to.equal(jobs / 2);
    expect(Math.min(...puts.map(({ atMs }) => atMs))).to.be.at.least(dueAtMs);
    expect(reported).to.deep.equal([]);
  });

  /** How many wait for the time that has come, whether or not it was noticed. */
  const due = async (): Promise<number> => {
    const [row] = await side.db("waiting").where("ready_at", "<=", new Date()).count({ rows: "*" });
    return Number(row?.["rows"]);
  };
});
