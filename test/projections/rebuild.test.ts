import { expect } from "chai";
import type { Knex } from "knex";
import type { Progress } from "../../projections/catch-up.ts";
import { checkpointTable } from "../../projections/checkpoint.ts";
import { takeLock } from "../../projections/database-lock.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { logsProjector } from "../../projections/logs/projector.ts";
import { rebuildLock } from "../../projections/projection-lock.ts";
import { readStatus, writeStatus } from "../../projections/projection-status.ts";
import type { Projector } from "../../projections/projector.ts";
import { RebuildRefused, rebuild } from "../../projections/rebuild.ts";
import { createTables } from "../../projections/table-set.ts";
import { LogUnavailable } from "../../src/event-log/event-log.ts";
import { alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import {
  jobCompleted,
  jobCreated,
  jobQueued,
  jobStarted,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide, tablesOf } from "../support/read-side.ts";

const both = [jobsProjector, logsProjector];

describe("a rebuild", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await oneJob();
  });
  afterEach(() => side.cleanUp());

  const oneJob = async (): Promise<void> => {
    const job = newJob();
    await side.storeContent(job);
    await side.happens(
      job,
      jobCreated(),
      jobQueued(),
      jobStarted(),
      recipientSent(),
      recipientFailed({ recipient: 1 }),
    );
    await side.happens(job, recipientFailed({ recipient: 2 }), jobCompleted());
  };
  const bothTables = async () => [await tablesOf(side.db, jobsProjector), await tablesOf(side.db, logsProjector)];
  const liveTables = async () => {
    const runners = side.startProjectors();
    await side.caughtUp();
    await Promise.all(runners.map((runner) => runner.stop()));
    return bothTables();
  };

  it("makes the same rows as the live projection, in every table", async () => {
    const live = await liveTables();
    await side.rebuild();
    expect(await bothTables()).to.deep.equal(live);
    expect(JSON.stringify(live)).to.include("1@example.com");
  });

  it("makes the same rows where every table was dropped", async () => {
    const live = await liveTables();
    for (const projector of both) await dropByHand(side.db, projector);
    await side.rebuild();
    expect(await bothTables()).to.deep.equal(live);
    expect(await side.db("email_logs").select()).to.have.length(9);
  });

  it("makes the same rows where some tables were dropped", async () => {
    const live = await liveTables();
    await side.db.schema.dropTable("jobs_content");
    await side.db.schema.dropTable("logs");
    await side.rebuild();
    expect(await bothTables()).to.deep.equal(live);
  });

  it("works where no projector ever ran", async () => {
    await side.rebuild();
    expect(await side.db("jobs").select()).to.have.length(3);
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live", error: null });
  });

  it("works on an empty log, and on one that ends with a gap", async () => {
    const empty = await openReadSide();
    await empty.rebuild().finally(() => empty.cleanUp());
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
    await rebuild(both, { db, log, sources, announcements, onProgress: (progress) => told.push(progress) });
    expect(told.map(({ projection, sequence, lastSequence }) => [projection, sequence, lastSequence])).to.deep.equal([
      ["jobs", 21, 21],
      ["logs", 21, 21],
    ]);
    expect(told.every(({ eventsPerSecond }) => eventsPerSecond > 0)).to.equal(true);
  });

  it("goes on beside live writes, and no reader sees less than before", async function () {
    this.timeout(60_000);
    side.startProjectors();
    await side.caughtUp();
    let isOver = false;
    const seen: number[] = [];
    const writingAndReading = (async () => {
      while (!isOver) {
        await oneJob();
        const [row] = await side.db(checkpointTable("jobs")).select("sequence");
        const [counted] = await side.db("jobs").count({ rows: "*" });
        seen.push(Number(row?.sequence), Number(counted?.["rows"]) * 7);
      }
    })();
    for (const _ of [1, 2, 3]) await side.rebuild();
    isOver = true;
    await writingAndReading;
    const sequences = seen.filter((_, index) => index % 2 === 0);
    expect(sequences).to.deep.equal([...sequences].sort((one, other) => one - other));
    for (let at = 0; at < seen.length; at += 2) expect(seen[at + 1]).to.be.at.least((seen[at] as number) - 6);

    await side.caughtUp();
    const live = await bothTables();
    await side.rebuild();
    expect(await bothTables()).to.deep.equal(live);
  });

  it("is refused while another one of the same projection runs", async () => {
    const lock = await takeLock(side.db, { name: rebuildLock("jobs") }, 0);
    const live = await liveTables();
    expect(await failureOf(side.rebuild())).to.be.instanceOf(RebuildRefused);
    expect(await bothTables()).to.deep.equal(live);
    lock?.release();
  });

  it("that was killed leaves the old tables, and the next begins afresh", async () => {
    const live = await liveTables();
    await createTables(side.db, jobsProjector, "__next");
    await createTables(side.db, jobsProjector, "__previous");
    await side.db("jobs_checkpoint__next").update({ sequence: 17 });
    await side.db.schema.dropTable("jobs_ledgers__next");
    await writeStatus(side.db, jobsProjector, { status: "rebuilding" });

    expect(await bothTables()).to.deep.equal(live);
    side.startProjectors();
    await oneJob();
    await side.caughtUp();
    await eventually(async () => expect(await readStatus(side.db, "jobs")).to.include({ status: "live" }));
    const onward = await bothTables();
    await side.rebuild();
    expect(await bothTables()).to.deep.equal(onward);
  });

  it("that fails leaves the old tables and says why", async () => {
    const live = await liveTables();
    const broken = alteredLog(side.log, (entry) => (entry.sequence === 9 ? "undecodable" : entry));
    expect((await failureOf(side.rebuild([jobsProjector], broken))).message).to.include("Event 9 of the log");
    const away = {
      ...side.log,
      state: async () => {
        throw new LogUnavailable("NATS did not answer.");
      },
    };
    expect(await failureOf(side.rebuild([jobsProjector], away))).to.be.instanceOf(LogUnavailable);
    expect(await bothTables()).to.deep.equal(live);
    expect(await readStatus(side.db, "jobs")).to.include({ status: "live" });
  });

  it("brings tables of an older release up to date, which its projector leaves alone until then", async () => {
    const old = await liveTables();
    const newer: Projector = { ...jobsProjector, version: 2, tables: { ...jobsProjector.tables, jobs_more: "id INT" } };
    side.startProjector(newer);
    await oneJob();
    expect(await side.positions.waitFor("jobs", (await side.log.state()).lastSequence, 500)).to.equal(false);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(old[0]);
    expect(side.logged.map(({ fields }) => fields["error"])).to.deep.equal([
      'The tables of jobs are of version 1, this release needs 2: run "waybill rebuild jobs".',
    ]);
    await side.rebuild([newer]);
    await oneJob();
    await side.caughtUp("jobs");
    expect(await side.db("jobs_more").select()).to.deep.equal([]);
  });
});

async function dropByHand(db: Knex, projector: Projector): Promise<void> {
  for (const table of [checkpointTable(projector.name), ...Object.keys(projector.tables)]) {
    await db.schema.dropTable(table);
  }
  for (const view of Object.keys(projector.views)) await db.schema.dropView(view);
}
