import { expect } from "chai";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { RowsOfOtherRelease } from "../../projections/following/read-failure.ts";
import { onReadableRows } from "../../projections/following/readable-rows.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { Projector } from "../../projections/projector.ts";
import { confirmRebuilds, readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { rollBackRebuilds } from "../../projections/rebuilding/roll-back.ts";
import { ensureTables } from "../../projections/rebuilding/table-set.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { liveTables, openReadSide, type ReadSide } from "../support/read-side.ts";

const { version, tables } = jobsProjector;
const newer: Projector = { ...jobsProjector, version: version + 1, tables: { ...tables, jobs_more: "\n  id INT" } };

describe("rows that are older than the code", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  it("are rebuilt in the background by a process of the newer release, while one of the older goes on", async () => {
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
    side.startProjector(newer);
    await side.mailing();
    await eventually(async () => {
      expect((await readTableSets(side.db, [newer]))[0]?.live).to.include({ version: version + 1 });
    });
    await side.mailing();
    await side.caughtUp("jobs");
    expect(await side.db("jobs").select()).to.have.length(5);
    expect(await side.db("jobs_more").select()).to.deep.equal([]);
    const [sets] = await readTableSets(side.db, [newer]);
    expect(sets?.kept).to.include({ version });
    expect(side.logged.map(({ message }) => message).join()).to.include("rows of an older release rebuilt");
  });

  it("go with the tables that only the older release had, which come back with it", async () => {
    const older = { ...jobsProjector, version: version - 1, tables: { ...tables, jobs_people: "\n  email TEXT" } };
    await side.db(checkpointTable("jobs")).update({ version: version - 1 });
    await side.db.schema.dropTable("jobs_ledgers");
    await ensureTables(side.db, older);
    await side.db("jobs_people").insert({ email: "ada@example.com" });
    side.startProjector(older);
    await side.caughtUp("jobs");
    await side.rebuild([jobsProjector]);
    const people = onReadableRows(side.db, older, { all: async () => side.db("jobs_people").select() });
    expect(await failureOf(people.all())).to.be.instanceOf(RowsOfOtherRelease);
    await rollBackRebuilds([older], side.rebuildSetup());
    expect(await people.all()).to.deep.equal([{ email: "ada@example.com" }]);
    await side.rebuild([jobsProjector]);
    await confirmRebuilds(side.db, [jobsProjector]);
    expect(await side.db.schema.hasTable("jobs_people")).to.equal(false);
    expect(await side.db.schema.hasTable("jobs_people__previous")).to.equal(false);
  });

  it("get the views of the newer release also where the process dies before it makes them", async () => {
    await liveTables(side);
    const dying = { ...outcomesProjector, version: 2, views: { all_outcomes: "SELECT nothing FROM outcomes" } };
    expect(await failureOf(side.rebuild([dying]))).to.match(/nothing/);
    await ensureTables(side.db, { ...dying, views: { all_outcomes: "SELECT type FROM outcomes" } });
    expect((await side.db("all_outcomes").select())[0]).to.deep.equal({ type: "RecipientSent" });
  });

  it("are rebuilt by one of several processes", async () => {
    await liveTables(side);
    for (const _ of [1, 2, 3]) side.startProjector(newer);
    await eventually(async () => {
      expect((await readTableSets(side.db, [newer]))[0]?.live).to.include({ version: version + 1 });
    });
    await side.mailing();
    await side.caughtUp("jobs");
    const rebuilt = side.logged.filter(({ message }) => message === "rows of an older release rebuilt");
    expect(rebuilt).to.have.length(1);
  });

  it("are not served, while those of a newer release are, as far as their columns go", async () => {
    await liveTables(side);
    const count = async () => Number((await side.db("jobs").count({ rows: "*" }))[0]?.["rows"]);
    const asked = (projector: Projector) => onReadableRows(side.db, projector, { count }).count();
    expect(await asked(jobsProjector)).to.equal(3);
    expect(await failureOf(asked({ ...jobsProjector, version: version + 1 }))).to.be.instanceOf(RowsOfOtherRelease);
    await side.db(checkpointTable("jobs")).update({ version: version + 1 });
    expect(await asked(jobsProjector)).to.equal(3);
    const gone = onReadableRows(side.db, jobsProjector, { shade: async () => side.db("jobs").select("shade") });
    expect(await failureOf(gone.shade())).to.be.instanceOf(RowsOfOtherRelease);
  });
});

describe("the API on rows that are older than its code", () => {
  let both: ApiWithReadSide;
  beforeEach(async () => {
    both = await startApiWithReadSide();
  });
  afterEach(() => both.close());

  it("refuses a list for as long, answers one job from the log, and goes on by itself", async () => {
    const { api, readSide } = both;
    const { jobId } = await readSide.mailing();
    await liveTables(readSide);
    await readSide.db(checkpointTable("jobs")).update({ version: version - 1 });
    const refused = await api.ask("GET", "/api/jobs");
    expect(refused.status).to.equal(503);
    expect(refused.body.type).to.match(/read-model-unavailable$/);
    expect(refused.headers.get("Retry-After")).to.equal("2");
    expect((await api.ask("GET", `/api/jobs/${jobId}`)).body).to.include({ id: jobId, status: "failed" });
    readSide.startProjector(jobsProjector);
    await eventually(async () => expect((await api.ask("GET", "/api/jobs")).body.data).to.have.length(1));
  });
});
