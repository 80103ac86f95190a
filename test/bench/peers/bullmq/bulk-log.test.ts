import { expect } from "chai";
import { createBulkLog, type LogRow } from "./bulk-log.ts";

const row = (email: string): LogRow => ["1", email, "success", "250 Ok", new Date(0)];

describe("the log rows of the benchmark's BullMQ worker", () => {
  it("share one statement while another one is under way", async () => {
    const statements: number[] = [];
    const log = createBulkLog(async (rows) => {
      statements.push(rows.length);
      await Promise.resolve();
    });
    await Promise.all(Array.from({ length: 700 }, (_, index) => log(row(`${index}@example.org`))));
    expect(statements).to.deep.equal([1, 500, 199]);
  });

  it("fail together with their statement, and later ones do not", async () => {
    let isBroken = true;
    const log = createBulkLog(async () => {
      if (isBroken) throw new Error("gone");
    });
    const failure = await log(row("a@example.org")).catch((reason: Error) => reason.message);
    isBroken = false;
    await log(row("b@example.org"));
    expect(failure).to.equal("gone");
  });
});
