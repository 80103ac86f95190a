import { expect } from "chai";
import { keepsBound } from "./row.ts";
import { median, medianOfKnown, percentile } from "./statistics.ts";

describe("the figures of the benchmark", () => {
  it("have as their 99th percentile the value that 99 of 100 do not exceed", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(values, 99)).to.equal(99);
    expect(percentile(values, 100)).to.equal(100);
    expect(percentile([7], 1)).to.equal(7);
  });

  it("have as their median the middle of an odd number of rounds, whatever their order", () => {
    expect(median([30, 10, 20])).to.equal(20);
  });

  it("are not known where those of one round are not", () => {
    expect(medianOfKnown([1, null, 3])).to.equal(null);
    expect(medianOfKnown([1, 2, 3])).to.equal(2);
  });

  it("keep a bound when they reach it, and what is not known breaks none", () => {
    expect(keepsBound({ what: "mails/s", value: 2, atLeast: 2 })).to.equal(true);
    expect(keepsBound({ what: "mails/s", value: 1.99, atLeast: 2 })).to.equal(false);
    expect(keepsBound({ what: "ms", value: 41, atMost: 40 })).to.equal(false);
    expect(keepsBound({ what: "peak MB", value: null, atMost: 200 })).to.equal(true);
  });
});
