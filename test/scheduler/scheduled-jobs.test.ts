import { expect } from "chai";
import { waitingProjector } from "../../projections/waiting/projector.ts";
import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import type { PollLoop } from "../../src/poll-loop.ts";
import { createOverflowLanes } from "../../src/scheduler/overflow-lanes.ts";
import { createTimer } from "../../src/scheduler/timer.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

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
    const timer = createTimer(side.log, createWaitingList(side.db), createOverflowLanes(), report);
    timers.push(timer);
    timer.start();
    return timer;
  };
  const reported: unknown[] = [];

  it("are queued once each when it has come and never before, whichever of two schedulers is stopped", async function () {
    this.timeout(60_000);
    const dueAtMs = Date.now() + 2000;
    for (let index = 0; index < jobs; index += 1) {
      const scheduledAt = index % 2 === 0 ? new Date(dueAtMs).toISOString() : inAnHour();
      await side.happens(newJob(), jobCreated({ scheduledAt }));
    }
    const { lastSequence } = await side.log.state();
    const first = startTimer();
    startTimer();
    await side.caughtUp("waiting");
    await eventually(async () => expect((await side.log.state()).lastSequence).to.be.greaterThan(lastSequence), 20_000);
    await first.stop();
    const queued = new Map<string, number>();
    await eventually(async () => expect(await waiting()).to.equal(jobs / 2), 30_000);
    const signal = new AbortController();
    for await (const batch of side.log.follow({ afterSequence: lastSequence, maxEvents: 500, signal: signal.signal })) {
      for (const entry of batch) {
        if (!("event" in entry)) continue;
        queued.set(entry.jobId, (queued.get(entry.jobId) ?? 0) + 1);
        expect(Date.parse(entry.event.at)).to.be.at.least(dueAtMs);
      }
      if (queued.size === jobs / 2) break;
    }
    signal.abort();
    expect([...queued.values()].every((times) => times === 1)).to.equal(true);
    expect(reported).to.deep.equal([]);
  });

  const waiting = async (): Promise<number> => {
    const [row] = await side.db("waiting").count({ rows: "*" });
    return Number(row?.["rows"]);
  };
});
