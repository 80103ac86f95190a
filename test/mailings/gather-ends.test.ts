import { expect } from "chai";
import { howToGather } from "../../src/mailings/gather-ends.ts";

/** How often the ends of parts are recorded that come one after the other, in an even stream. */
function recordsOf(parts: number, everyMs: number): number {
  let records = 0;
  for (let recorded = 0; recorded < parts; records += 1) {
    const { most, forMs } = howToGather(recorded);
    recorded += Math.min(Math.ceil(most), 1 + Math.floor(forMs / everyMs));
  }
  return records;
}

describe("The ends of the parts of a mailing", () => {
  it("are recorded within a moment while it is small", () => {
    expect(howToGather(0)).to.deep.equal({ most: 20, forMs: 250 });
    expect(howToGather(20).forMs).to.be.at.most(500);
  });

  it("are fewer than a thousand decisions for ten thousand parts that end at any pace of a mail server", () => {
    for (const everyMs of [10, 100, 300, 1000])
      expect(recordsOf(10_000, everyMs), `every ${everyMs} ms`).to.be.below(1000);
  });
});
