import { expect } from "chai";
import type { Knex } from "knex";
import type { Progress } from "../../projections/following/catch-up.ts";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { readStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { Projector } from "../../projections/projector.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import { alteredLog } from "../support/altered-log.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { liveTables, openReadSide, type ReadSide, tablesOfBoth } from "../support/read-side.ts";

const both = [jobsProjector, outcomesProjector];

describe("a rebuild", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  it("makes the same rows as the live projection, in every table", async () => {
    const live = await liveTables(side);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    expect(JSON.stringify(live)).to.include("1@example.com");
  });

  it("makes the same rows where every table was dropped", async () => {
    const live = await liveTables(side);
    for (const projector of both) await dropByHand(side.db, projector);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    expect(await side.db("email_logs").select()).to.have.length(9);
    expect(await side.db("all_outcomes").select()).to.have.length(9);
  });

  it("makes the same rows where some tables were dropped", async () => {
    const live = await liveTables(side);
    await side.db.schema.dropTable("jobs_content");
    await side.db.schema.dropTable("outcomes");
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });

  it("works where no projector ever ran", async () => {
    await side.rebuild();
    expect(await side.db("jobs").select()).to.have.length(3);
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live", error: null });
  });

  it("works on an empty log, and on one that ends with a gap", async () => {
    const empty = await openReadSide();
    try {
      await empty.rebuild();
    } finally {
      await empty.cleanUp();
    }
    const { lastSequence } = await side.log.state();
    await side.rebuild(
      [jobsProjector],
      alteredLog(side.log, (entry) => (entry.sequence === lastSequence ? "gap" : entry)),
    );
    expect(await side.db("jobs").where({ status: "processing" }).select()).to.have.length(1);
  });

  it("tells how far it is", async () => {
    const told: Progress[] = [];
    const { db, log, announcements } = side;
    const sources = { readContent: async () => null };
    const rebuilt: string[] = [];
    const onProgress = (progress: Progress): number => told.push(progress);
    const onRebuilt = (projection: string): number => rebuilt.push(projection);
    const keyed: string[] = [];
    const onKeys = (projection: string): number => keyed.push(projection);
    await rebuild(both, { db, log, sources, announcements, onProgress, onKeys, onRebuilt });
    const heard = told.map(({ projection, sequence, lastSequence }) => [projection, sequence, lastSequence]);
    expect(heard).to.have.deep.members([
      ["jobs", 18, 18],
      ["outcomes", 18, 18],
    ]);
    expect(rebuilt).to.have.members(["jobs", "outcomes"]);
    expect(keyed).to.deep.equal(["jobs"]);
    expect(told.every(({ eventsPerSecond }) => eventsPerSecond > 0)).to.equal(true);
  });

  it("goes on beside live writes, and no reader sees less than before", async function () {
    this.timeout(120_000);
    side.startProjectors();
    await side.caughtUp();
    let isOver = false;
    const seen: number[] = [];
    const writingAndReading = (async () => {
      while (!isOver) {
        await side.mailing();
        const [row] = await side.db(checkpointTable("jobs")).select("sequence");
        const [counted] = await side.db("jobs").count({ rows: "*" });
        seen.push(Number(row?.sequence), Number(counted?.["rows"]) * 6);
      }
    })();
    for (const _ of [1, 2, 3]) await side.rebuild();
    isOver = true;
    await writingAndReading;
    const sequences = seen.filter((_, index) => index % 2 === 0);
    expect(sequences).to.deep.equal([...sequences].sort((one, other) => one - other));
    for (let at = 0; at < seen.length; at += 2) expect(seen[at + 1]).to.be.at.least((seen[at] as number) - 5);

    await side.caughtUp();
    const live = await tablesOfBoth(side.db);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });
});

async function dropByHand(db: Knex, projector: Projector): Promise<void> {
  for (const table of [checkpointTable(projector.name), ...Object.keys(projector.tables)]) {
    await db.schema.dropTable(table);
  }
  for (const view of Object.keys(projector.views)) await db.schema.dropView(view);
}
