import { expect } from "chai";
import { createEndedJobs } from "../../../projections/jobs/ended-jobs.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { later, now } from "../../support/examples.ts";
import { draftMailing } from "../../support/mailings.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const tenants = Array.from({ length: 20 }, (_, index) => `tenant-${index}`).toSorted();

describe("The jobs and mailings that have ended", () => {
  let side: ReadSide;

  before(async () => {
    side = await openReadSide();
    await side.mailing();
    await draftMailing(side);
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
    const [row] = await side.db("jobs_counts");
    await side.db("jobs_counts").insert(tenants.map((tenant) => ({ ...row, tenant })));
  });
  after(() => side.cleanUp());

  /** Every tenant has one row like the one that there is, which ended then. */
  const give = async (table: string, column: string, endedAt: string): Promise<void> => {
    const [row] = await side.db(table);
    await side.db(table).delete();
    const rows = tenants.map((tenant, place) => ({ ...row, tenant, place, id: `of-${tenant}` }));
    await side.db(table).insert(rows.map((one) => ({ ...one, [column]: new Date(endedAt) })));
  };

  for (const [table, column, find] of [
    ["jobs", "completed_at", "before"],
    ["mailings", "resting_since", "mailingsRestingBefore"],
  ] as const) {
    it(`are found in a few queries of ${table}, however many tenants have none that is old enough`, async () => {
      await give(table, column, now);
      await side
        .db(table)
        .where({ tenant: tenants[3] })
        .update({ [column]: null });
      for (const tenant of [tenants[5], tenants[9]]) {
        await side
          .db(table)
          .where({ tenant })
          .update({ [column]: new Date("2020-01-01T00:00:00Z") });
      }
      const ended = createEndedJobs(side.db, side.positions);
      let asked = 0;
      side.db.on("query", ({ sql }: { sql: string }) => {
        if (sql.includes(`\`${table}\``)) asked += 1;
      });
      const old = [tenants[5], tenants[9]].map((tenant) => ({ tenant, jobId: `of-${tenant}` }));
      expect(await ended[find]("2021-01-01T00:00:00.000Z", 10)).to.deep.equal(old);
      expect(asked).to.equal(3);
      expect(await ended[find]("2021-01-01T00:00:00.000Z", 1)).to.deep.equal(old.slice(0, 1));
      expect(await ended[find](later, 100)).to.have.length(tenants.length - 1);
    });
  }
});
