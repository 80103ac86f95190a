import { expect } from "chai";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { logReport } from "../../../projections/jobs/recipients/log-report.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";
import { insertLogLines } from "../../support/report-rows.ts";

const lines = 20_000;
const tried = 1_000;

describe("A report of logs of a tenant most of whose recipients were never tried", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    await insertLogLines(side.db, "default", lines);
    await side.db.raw("UPDATE recipients SET place = NULL, status = NULL, at = NULL WHERE recipient >= ?", [
      (1000 * tried) / lines,
    ]);
    // The entries of before stay in the index for a while.
    await side.db.raw("ALTER TABLE recipients ENGINE = InnoDB");
    await side.db.raw("ANALYZE TABLE recipients");
  });
  after(() => side.cleanUp());

  it("begins with the first that was, and looks at none of the others", async () => {
    const began = { sequence: 1, at: "2026-11-21T09:30:00.000Z" };
    const { sql, bindings } = logReport.statement({ tenant: "default", from: null, to: null, began }, null, 1000);
    const [plan] = await side.db.raw(`EXPLAIN FORMAT = TRADITIONAL ${sql}`, [...bindings] as string[]);
    const [looks] = (plan as { table: string; key: string; rows: number }[]).filter(({ table }) => table === "outcome");
    expect(looks?.key).to.equal("by_time");
    // An estimate: the server looks up both ends of the range.
    expect(Number(looks?.rows)).to.be.lessThan(2 * tried);
    const [rows] = await side.db.raw(sql, [...bindings] as string[]);
    expect(rows).to.have.lengthOf(tried);
  });
});
