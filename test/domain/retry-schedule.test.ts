import { expect } from "chai";
import fc from "fast-check";
import { delayBeforeAttempt, type RetrySchedule, scheduleOfJob } from "../../src/domain/retry-schedule.ts";

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** What the settings of the service make of it when nothing is set. */
const usual: RetrySchedule = { baseDelayMs: minute, factor: 2, jitter: 0.1, delaysMs: null };
const middle = 0.5;

const delays = (schedule: RetrySchedule, attempts: readonly number[], randomShare = middle): number[] =>
  attempts.map((attempt) => delayBeforeAttempt(attempt, schedule, randomShare));

describe("the wait before the next attempt of a job", () => {
  it("is a minute before the second attempt and doubles from there", () => {
    expect(delays(usual, [2, 3, 4, 5])).to.deep.equal([minute, 2 * minute, 4 * minute, 8 * minute]);
  });

  it("is a tenth shorter or longer at most, as chance has it", () => {
    expect(delays(usual, [2, 3], 0)).to.deep.equal([54 * second, 108 * second]);
    expect(delays(usual, [2, 3], 1)).to.deep.equal([66 * second, 132 * second]);
  });

  it("is never longer than a day, whatever chance adds", () => {
    expect(delays(usual, [13, 14, 20], 1)).to.deep.equal([day, day, day]);
  });

  it("is always the same with a factor of one", () => {
    expect(delays({ ...usual, factor: 1 }, [2, 3, 20])).to.deep.equal([minute, minute, minute]);
  });

  it("is in whole milliseconds", () => {
    expect(delayBeforeAttempt(3, { ...usual, baseDelayMs: 333, factor: 1.5 }, 0.123)).to.equal(462);
  });
});

describe("a schedule given as a list", () => {
  const listed = { ...usual, delaysMs: [second, 5 * second, 15 * second] };

  it("is gone through in order, and its last delay stays", () => {
    expect(delays(listed, [2, 3, 4, 5, 20])).to.deep.equal([1000, 5000, 15_000, 15_000, 15_000]);
  });

  it("has delays of days where it says so", () => {
    expect(delays({ ...usual, delaysMs: [3 * day, 30 * day] }, [2, 3, 4])).to.deep.equal([3 * day, 30 * day, 30 * day]);
  });

  it("is spread by chance too", () => {
    expect(delays(listed, [2, 3], 0)).to.deep.equal([900, 4500]);
  });
});

describe("a job with its own first delay", () => {
  it("waits that long first and doubles from there", () => {
    expect(delays(scheduleOfJob(usual, 5 * second), [2, 3, 4])).to.deep.equal([5000, 10_000, 20_000]);
  });

  it("does so also where the service has a list", () => {
    expect(delays(scheduleOfJob({ ...usual, delaysMs: [minute] }, 5 * second), [2, 3])).to.deep.equal([5000, 10_000]);
  });

  it("may want no wait at all", () => {
    expect(delays(scheduleOfJob(usual, 0), [2, 3, 20, 2000])).to.deep.equal([0, 0, 0, 0]);
  });

  it("follows the service where it asked for none", () => {
    expect(scheduleOfJob(usual, null)).to.equal(usual);
  });
});

describe("any schedule that the settings allow", () => {
  const schedule = fc.record({
    baseDelayMs: fc.integer({ min: 0, max: day }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    delaysMs: fc.option(fc.array(fc.integer({ min: 0, max: 2 * day }), { minLength: 1, maxLength: 5 })),
  });
  const attempt = fc.integer({ min: 2, max: 5000 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  it("waits a whole number of milliseconds, from none to a day or to twice the longest of its list", () => {
    fc.assert(
      fc.property(schedule, attempt, share, (any, next, chance) => {
        const delay = delayBeforeAttempt(next, any, chance);
        const longest = any.delaysMs === null ? day : 2 * Math.max(...any.delaysMs);
        expect(Number.isInteger(delay) && delay >= 0 && delay <= longest, `${delay}`).to.equal(true);
      }),
    );
  });

  it("never waits shorter after a later attempt, by the same chance and without a list", () => {
    fc.assert(
      fc.property(schedule, attempt, share, (any, next, chance) => {
        const growing = { ...any, delaysMs: null };
        expect(delayBeforeAttempt(next + 1, growing, chance)).to.be.at.least(delayBeforeAttempt(next, growing, chance));
      }),
    );
  });
});
