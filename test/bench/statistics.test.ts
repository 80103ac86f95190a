import { expect } from "chai";
import { coldAndWarm } from "./cold-and-warm.ts";
import { figureOf, keepsBound, keepsTargets } from "./row.ts";
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
    expect(keepsBound(2, { atLeast: 2 })).to.equal(true);
    expect(keepsBound(1.99, { atLeast: 2 })).to.equal(false);
    expect(keepsBound(41, { atMost: 40 })).to.equal(false);
    expect(keepsBound(null, { atMost: 200 })).to.equal(true);
  });

  it("are held against their targets cold and warm, each against its own", () => {
    const targets = { cold: { atLeast: 1.5 }, warm: { atLeast: 2 } };
    const measured = (cold: number, warm: readonly number[]) =>
      figureOf({ cold, warm }, "×", (value) => value, targets);
    expect(keepsTargets(measured(1.5, [1.9, 2, 2.4]))).to.equal(true);
    expect(keepsTargets(measured(1.4, [2]))).to.equal(false);
    expect(keepsTargets(measured(1.6, [1.9]))).to.equal(false);
  });

  it("are of a first round, of a warm-up that is not counted, and of so many rounds", async () => {
    let done = 0;
    const measured = await coldAndWarm(
      2,
      async () => ++done,
      async () => ++done,
    );
    expect(measured).to.deep.equal({ cold: 1, warm: [3, 4] });
  });
});
