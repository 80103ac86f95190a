import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { JobEvent } from "../../src/domain/job/events.ts";
import { watchLease } from "../../src/workers/lease.ts";
import { job, jobCancelled, jobPaused, jobResumed, jobStarted, settings } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { processing } from "../support/histories.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const takenAt = (leaseSequence: number, claimed: readonly number[] = []) => ({
  job,
  leaseSequence,
  confirmedAt: performance.now(),
  claimed,
  settings,
});

describe("a lease that was confirmed a moment ago, when a decision about the job is heard of", () => {
  it("counts for nothing until the log has answered anew", async () => {
    const log = createMemoryEventLog();
    const leaseSequence = await happen(log, job, processing());
    let answer: () => void = () => {};
    let answering = Promise.resolve();
    const lastDecision = async (): Promise<number> => {
      await answering;
      return await log.lastDecision(job);
    };
    const lease = watchLease({ ...log, lastDecision }, takenAt(leaseSequence), new AbortController().signal);
    expect(await lease.confirmLately()).to.equal(true);

    answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await happen(log, job, [jobCancelled()]);
    expect(lease.isHeld(), "what is known without asking").to.equal(true);
    const confirmed = lease.confirmLately();
    answer();
    expect(await confirmed).to.equal(false);
    lease.end();
  });
});

describe("a lease whose worker does not hear of decisions", () => {
  const deaf = () => {
    const log = createMemoryEventLog();
    return { ...log, onDecision: () => () => {} };
  };
  const patience = new AbortController().signal;
  let now = 0;

  beforeEach(() => {
    Object.defineProperty(performance, "now", { configurable: true, value: () => now });
  });

  afterEach(() => {
    Reflect.deleteProperty(performance, "now");
  });

  const passTime = (ms: number): void => {
    now += ms;
  };

  it("is believed in for a second after the worker asked for it: the worker may have been stopped since", async () => {
    const log = deaf();
    const lease = watchLease(log, takenAt(await happen(log, job, processing())), patience);
    await happen(log, job, [jobCancelled()]);
    passTime(900);
    expect(await lease.confirmLately()).to.equal(true);
    passTime(200);
    expect(await lease.confirmLately()).to.equal(false);
  });

  it("is looked at again when the answer took its time: the worker may have been stopped while it was on its way", async () => {
    const log = deaf();
    const leaseSequence = await happen(log, job, processing());
    const answers = [leaseSequence];
    const lastDecision = async (): Promise<number> => {
      const answer = answers.shift() ?? (await log.lastDecision(job));
      if (answer === leaseSequence) {
        await happen(log, job, [jobCancelled()]);
        passTime(45_000);
      }
      return answer;
    };
    const lease = watchLease({ ...log, lastDecision }, takenAt(leaseSequence), patience);
    expect(await lease.confirm()).to.equal(false);
  });

  it("is believed in for a second after it was confirmed, and no longer", async () => {
    const log = deaf();
    const lease = watchLease(log, takenAt(await happen(log, job, processing())), patience);
    expect(await lease.confirm()).to.equal(true);
    await happen(log, job, [jobCancelled()]);
    passTime(900);
    expect(await lease.confirmLately()).to.equal(true);
    passTime(200);
    expect(await lease.confirmLately()).to.equal(false);
  });

  describe("and that was lost, where its history takes longer to read than an answer holds", () => {
    /** What comes into the log while the history is read for the first time. */
    const readSlowly = async (meanwhile: readonly JobEvent[]) => {
      const log = deaf();
      const leaseSequence = await happen(log, job, processing());
      await happen(log, job, [jobPaused()]);
      let reads = 0;
      const readDecisions: typeof log.readDecisions = async () => {
        reads += 1;
        if (reads > 3) throw new Error("It is read again and again.");
        const read = await log.readDecisions(job);
        passTime(1500);
        if (reads === 1) await happen(log, job, meanwhile);
        return read;
      };
      return await watchLease({ ...log, readDecisions }, takenAt(leaseSequence), patience).isFree();
    };

    it("is free as long as no other worker took one", async () => {
      expect(await readSlowly([])).to.equal(true);
      expect(await readSlowly([jobResumed()])).to.equal(true);
    });

    it("is not free once another worker took one meanwhile", async () => {
      expect(await readSlowly([jobResumed(), jobStarted({ worker: "other" })])).to.equal(false);
    });
  });
});

describe("a lease whose worker has claimed every recipient with it", () => {
  const everybody = [0, 1, 2];

  it("is listened for only if the job takes its time, and a decision before that is found then", async () => {
    const log = createMemoryEventLog();
    const listened: number[] = [];
    const startedAt = performance.now();
    const onDecision: typeof log.onDecision = (...listening) => {
      listened.push(performance.now() - startedAt);
      return log.onDecision(...listening);
    };
    const leaseSequence = await happen(log, job, processing());
    const lease = watchLease({ ...log, onDecision }, takenAt(leaseSequence, everybody), new AbortController().signal);
    const lost = new Promise<void>((resolve) => lease.onLost(resolve));
    await happen(log, job, [jobCancelled()]);
    expect(lease.isHeld(), "at once").to.equal(true);
    await lost;
    expect(lease.isHeld(), "a moment later").to.equal(false);
    expect(listened).to.have.lengthOf(1);
    expect(listened[0]).to.be.greaterThan(100);
    lease.end();
  });

  it("is believed in no longer than a hint takes, until it is listened for", async () => {
    const log = createMemoryEventLog();
    const leaseSequence = await happen(log, job, processing());
    const lease = watchLease(log, takenAt(leaseSequence, everybody), new AbortController().signal);
    await happen(log, job, [jobCancelled()]);
    await pause(60);
    expect(await lease.confirmLately()).to.equal(false);
    lease.end();
  });

  it("is never listened for if the job ends before", async () => {
    const log = createMemoryEventLog();
    const onDecision = (): never => expect.fail("It listened.");
    const leaseSequence = await happen(log, job, processing());
    watchLease({ ...log, onDecision }, takenAt(leaseSequence, everybody), new AbortController().signal).end();
    await pause(400);
  });
});
