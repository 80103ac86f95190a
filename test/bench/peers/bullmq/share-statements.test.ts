import { expect } from "chai";
import { shareStatements } from "./share-statements.ts";

describe("the rows of the benchmark's BullMQ service", () => {
  it("share one statement while another one is under way", async () => {
    const statements: number[] = [];
    const store = shareStatements(async (rows: readonly number[]) => {
      statements.push(rows.length);
      await Promise.resolve();
    });
    await Promise.all(Array.from({ length: 700 }, (_, index) => store(index)));
    expect(statements).to.deep.equal([1, 500, 199]);
  });

  it("fail together with their statement, and later ones do not", async () => {
    let isBroken = true;
    const store = shareStatements(async () => {
      if (isBroken) throw new Error("gone");
    });
    const failure = await store(1).catch((reason: Error) => reason.message);
    isBroken = false;
    await store(2);
    expect(failure).to.equal("gone");
  });
});
