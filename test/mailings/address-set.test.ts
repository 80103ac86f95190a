import { expect } from "chai";
import { createAddressSet } from "../../src/mailings/address-set.ts";
import { chanceOf } from "../support/chance-of.ts";
import { runsOf } from "../support/property-runs.ts";

const [steps, many] = [runsOf(20_000), runsOf(300_000)];

describe("the addresses of a mailing", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    it(`are in it exactly once, whatever comes and however often (seed ${seed})`, () => {
      const chance = chanceOf(seed);
      const set = createAddressSet(`mailing-${seed}`);
      const known = new Set<string>();
      const range = 10 ** (1 + seed);
      for (let step = 0; step < steps; step += 1) {
        const address = `person${chance(range)}@example.com`;
        const isKnown = known.has(address);
        if (set.has(address) !== isKnown || set.add(address) === isKnown) expect.fail(`${address} in step ${step}`);
        known.add(address);
      }
      expect(set.size).to.equal(known.size);
      expect([...known].filter((address) => !set.has(address))).to.deep.equal([]);
    });
  }

  it("take at most 30 bytes each once there are many", () => {
    const set = createAddressSet("large");
    for (let one = 0; one < many; one += 1) set.add(`person${one}@example.com`);
    expect(set.size).to.equal(many);
    expect(set.bytes / set.size).to.be.within(16, 30);
  });
});
