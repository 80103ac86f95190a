import { expect } from "chai";
import { longestGap, sinceElection } from "./gaps.ts";

describe("the longest time in which nothing happened", () => {
  it("counts from the begin and up to the end", () => {
    expect(longestGap([], 100, 400)).to.deep.equal({ ms: 300, countedMs: 300, to: 400 });
    expect(longestGap([150, 350], 100, 400)).to.deep.equal({ ms: 200, countedMs: 200, to: 350 });
  });

  it("leaves out what was before and after", () => {
    expect(longestGap([0, 50, 150, 500], 100, 300)).to.deep.equal({ ms: 150, countedMs: 150, to: 300 });
  });

  it("does not count what is excused", () => {
    const excused = [{ from: 120, to: 260 }];
    expect(longestGap([110, 300], 100, 310, excused)).to.deep.equal({ ms: 190, countedMs: 50, to: 300 });
  });

  it("finds the longest that counts beside the longest of all", () => {
    const excused = [{ from: 100, to: 290 }];
    expect(longestGap([300, 400], 100, 410, excused)).to.deep.equal({ ms: 200, countedMs: 100, to: 400 });
  });

  it("knows how long it went on once a leader was there", () => {
    const gap = { ms: 200, countedMs: 200, to: 400 };
    expect(sinceElection(gap, [150, 250, 390, 500])).to.equal(10);
    expect(sinceElection(gap, [150, 500])).to.equal(null);
    expect(sinceElection(gap, [])).to.equal(null);
  });
});
