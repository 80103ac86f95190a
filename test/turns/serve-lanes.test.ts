import { expect } from "chai";
import { serveLanes } from "../../src/turns/serve-lanes.ts";

/** A lane with so many turns, each called by the name of the lane. */
const laneOf = (name: string, count: number) => {
  let left = count;
  return {
    add: () => {
      left += 1;
    },
    take: async (limit: number) => {
      const taken = Math.min(left, limit);
      left -= taken;
      return Array.from({ length: taken }, () => name);
    },
    mayHaveWork: () => left > 0,
  };
};

const takeOneByOne = async (serve: (limit: number) => Promise<readonly string[]>, times: number) => {
  const taken: string[] = [];
  for (let time = 0; time < times; time += 1) taken.push(...(await serve(1)));
  return taken;
};

describe("lanes that all have work", () => {
  it("are served from the first on", async () => {
    const serve = serveLanes([laneOf("high", 2), laneOf("normal", 1), laneOf("low", 5)]);
    expect(await serve(4)).to.deep.equal(["high", "high", "normal", "low"]);
  });

  it("do not starve behind one that never empties: each is served in its turn", async () => {
    const serve = serveLanes([laneOf("high", 1000), laneOf("normal", 1000), laneOf("low", 1000)]);
    const taken = await takeOneByOne(serve, 200);
    expect(taken.filter((name) => name === "high")).to.have.lengthOf(180);
    expect(taken.filter((name) => name === "normal")).to.have.lengthOf(10);
    expect(taken.filter((name) => name === "low")).to.have.lengthOf(10);
  });

  it("let a lone turn of the first lane overtake ten thousand of the last", async () => {
    const high = laneOf("high", 0);
    const serve = serveLanes([high, laneOf("low", 10_000)]);
    for (let round = 0; round < 50; round += 1) {
      await takeOneByOne(serve, round);
      high.add();
      expect(await serve(1)).to.deep.equal(["high"]);
    }
  });
});

describe("lanes of which one cannot be asked", () => {
  const broken = { take: () => Promise.reject(new Error("no answer")), mayHaveWork: () => true };

  it("still give what was taken before", async () => {
    expect(await serveLanes([laneOf("high", 1), broken])(2)).to.deep.equal(["high"]);
  });

  it("say so where nothing was taken", async () => {
    const failure = await serveLanes([laneOf("high", 0), broken])(2).catch((thrown: unknown) => thrown);
    expect(String(failure)).to.include("no answer");
  });
});
