import { expect } from "chai";
import { shareReads } from "../../src/process/shared-reads.ts";

describe("a reading that many share", () => {
  const counting = () => {
    let asked = 0;
    const read = shareReads(async (key: string) => `${key} ${++asked}`, 20);
    return { read, asked: () => asked };
  };

  it("is asked at once for the first, and once for all who come shortly after", async () => {
    const { read, asked } = counting();
    const answers = await Promise.all([read("acme"), read("acme"), read("acme")]);
    expect(answers).to.deep.equal(["acme 1", "acme 2", "acme 2"]);
    expect(asked()).to.equal(2);
  });

  it("gives no caller an answer from before its call", async () => {
    const { read } = counting();
    expect(await read("acme")).to.equal("acme 1");
    expect(await read("acme")).to.equal("acme 2");
    expect(await read("acme")).to.equal("acme 3");
  });

  it("is another one for each tenant, and is asked again after a failure", async () => {
    let fails = true;
    const read = shareReads(async (key: string) => {
      if (fails) throw new Error("away");
      return key;
    }, 20);
    const failed = await Promise.allSettled([read("acme"), read("acme"), read("globex")]);
    expect(failed.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "rejected"]);
    fails = false;
    expect(await Promise.all([read("acme"), read("globex")])).to.deep.equal(["acme", "globex"]);
  });
});
