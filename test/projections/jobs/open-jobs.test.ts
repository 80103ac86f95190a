import { expect } from "chai";
import type { Knex } from "knex";
import { createOpenJobs } from "../../../projections/jobs/open-jobs.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { inTransaction } from "../../../src/database/database.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";
import { insertJobs } from "../../support/report-rows.ts";

const count = 3_000;

describe(`looking at all of ${count} queued jobs, a few at a time`, () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    const status = "queued";
    await insertJobs(side.db, "default", count);
    await side.db("jobs").update({ status });
    const group = { tenant: "default", status, type: "email.send", priority: "normal" };
    await side.db("jobs_counts").insert({ ...group, jobs: count, retired: 0, unsent: 0 });
  });
  after(() => side.cleanUp());

  it("finds each once, and reads none twice", async () => {
    const found = new Set<string>();
    const reads = await inTransaction(side.db, async (transaction) => {
      const before = await rowsRead(transaction);
      await createOpenJobs(transaction).forSome(async (some) => {
        for (const { jobId } of some) found.add(jobId);
      });
      return (await rowsRead(transaction)) - before;
    });
    expect(found.size).to.equal(count);
    // Each query begins with a look at the index and at the state of the read model.
    expect(reads).to.be.lessThan(2 * count);
  });
});

async function rowsRead(transaction: Knex.Transaction): Promise<number> {
  const [counters] = await transaction.raw(
    "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_rnd_next')",
  );
  return counters.reduce((sum: number, { Value }: { Value: string }) => sum + Number(Value), 0);
}
