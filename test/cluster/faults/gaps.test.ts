import { expect } from "chai";
import { longestGap } from "./gaps.ts";

describe("the longest time in which nothing happened", () => {
  it("counts from the begin and up to the end", () => {
    expect(longestGap([], 100, 400)).to.deep.equal({ ms: 300, countedMs: 300 });
    expect(longestGap([150, 350], 100, 400)).to.deep.equal({ ms: 200, countedMs: 200 });
  });

  it("leaves out what was before and after", () => {
    expect(longestGap([0, 50, 150, 500], 100, 300)).to.deep.equal({ ms: 150, countedMs: 150 });
  });

  it("does not count what is excused", () => {
    const excused = [{ from: 120, to: 260 }];
    expect(longestGap([110, 300], 100, 310, excused)).to.deep.equal({ ms: 190, countedMs: 50 });
  });

  it("finds the longest that counts beside the longest of all", () => {
    const excused = [{ from: 100, to: 290 }];
    expect(longestGap([300, 400], 100, 410, excused)).to.deep.equal({ ms: 200, countedMs: 100 });
  });
});
