import { expect } from "chai";
import { type Pace, rateAfter, sizeOfPart, waitAfterPart } from "../../src/domain/mailing/pace.ts";

const unlimited: Pace = { ratePerHour: null, rampUp: null };
const steady: Pace = { ratePerHour: 6000, rampUp: null };
const warming: Pace = { ratePerHour: 1000, rampUp: { firstHour: 100, growth: 2 } };

describe("The pace of a mailing", () => {
  it("is none by default: full parts, one right after the other", () => {
    expect(sizeOfPart(unlimited, 0, 1000)).to.equal(1000);
    expect(waitAfterPart(unlimited, 0, 1000)).to.equal(0);
  });

  it("makes parts of what may go in a minute, and after the first hour in five", () => {
    expect(sizeOfPart(steady, 0, 1000)).to.equal(100);
    expect(waitAfterPart(steady, 0, 100)).to.equal(60_000);
    expect(sizeOfPart(steady, 5999, 1000)).to.equal(100);
    expect(sizeOfPart(steady, 6000, 1000)).to.equal(500);
    expect(sizeOfPart({ ratePerHour: 1, rampUp: null }, 0, 1000)).to.equal(1);
    expect(waitAfterPart({ ratePerHour: 1, rampUp: null }, 0, 1)).to.equal(3_600_000);
  });

  it("begins with the first hour of a ramp-up, and grows with what has gone up to the rate", () => {
    const rates = [0, 99, 100, 299, 300, 699, 700, 1499, 1500, 100_000].map((gone) => rateAfter(warming, gone));
    expect(rates).to.deep.equal([100, 100, 200, 200, 400, 400, 800, 800, 1000, 1000]);
  });

  it("without a rate grows on", () => {
    const free: Pace = { ratePerHour: null, rampUp: { firstHour: 1000, growth: 10 } };
    expect(rateAfter(free, 1_000_000)).to.equal(1_000_000);
  });

  it("sends in each hour what the ramp-up allows", () => {
    for (const pace of [steady, warming, { ratePerHour: 7, rampUp: null }]) {
      const hours: number[] = [];
      let gone = 0;
      for (let at = 0; at < 5 * 3_600_000; ) {
        const size = sizeOfPart(pace, gone, 1000);
        const hour = Math.floor(at / 3_600_000);
        hours[hour] = (hours[hour] ?? 0) + size;
        at += waitAfterPart(pace, gone, size);
        gone += size;
      }
      const allowed = pace === warming ? [100, 200, 400, 800, 1000] : hours.map(() => pace.ratePerHour ?? 0);
      for (const [hour, sent] of hours.entries())
        expect(sent).to.be.within((allowed[hour] ?? 0) * 0.9 - 1, (allowed[hour] ?? 0) * 1.1 + 1);
    }
  });
});
