import { expect } from "chai";
import type { Knex } from "knex";
import { writeStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createReadModels, type ReadModels } from "../../projections/read-models.ts";
import { type AskedRebuilds, carryOutRebuilds } from "../../projections/rebuilding/carry-out-rebuilds.ts";
import { readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { holdingRebuildLocks } from "../../projections/rebuilding/rebuild-lock.ts";
import { readRebuildRequests } from "../../projections/rebuilding/rebuild-requests.ts";
import { alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import { earlier, later, now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { liveTables, openReadSide, type ReadSide, tablesOfBoth } from "../support/read-side.ts";

const projectors = [jobsProjector, outcomesProjector];

describe("a rebuild that an operator asks for", () => {
  let side: ReadSide;
  let readModels: ReadModels;
  let rebuilt: string[];
  let failures: unknown[];
  let right: Awaited<ReturnType<typeof liveTables>>;

  beforeEach(async () => {
    side = await openReadSide();
    readModels = createReadModels(side.db, projectors);
    rebuilt = [];
    failures = [];
    for (const _ of [1, 2]) await side.mailing();
    right = await liveTables(side);
    for (const table of ["jobs", "outcomes"]) await side.db(table).delete();
  });
  afterEach(() => side.cleanUp());

  const request = (projection: string, at = now, by = "key:op1") => readModels.requestRebuild(projection, by, at);
  const carryOut = (changed: Partial<AskedRebuilds> = {}): Promise<void> => {
    const info = (fields: object, message: string): void => {
      if (message === "requested rebuild done") rebuilt.push(JSON.stringify(fields));
    };
    const logger = { info, warn: () => {}, error: () => {} };
    const report = (failure: unknown) => failures.push(failure);
    const { db, log, sources, announcements } = side.rebuildSetup();
    const asked = { db, log, sources, announcements, projectors, logger, report, ...changed };
    return carryOutRebuilds(asked, new AbortController().signal);
  };
  const open = () => readRebuildRequests(side.db);
  /** The database server frees the lock of the one before after a moment, and who finds it held does nothing. */
  const carryOutNext = () =>
    eventually(async () => {
      await carryOut();
      expect(await open()).to.deep.equal([]);
    });

  it("corrects the rows, names the caller, and is removed", async () => {
    await request("jobs");
    await request("outcomes", later);
    await carryOut();
    expect(await tablesOfBoth(side.db)).to.deep.equal(right);
    expect(await open()).to.deep.equal([]);
    expect(failures).to.deep.equal([]);
    expect(rebuilt.map((line) => JSON.parse(line))).to.deep.equal([
      { projection: "jobs", actor: "key:op1", requestedAt: now, isKept: true },
      { projection: "outcomes", actor: "key:op1", requestedAt: later, isKept: true },
    ]);
  });

  it("is one, however often it is asked for before it is done", async () => {
    const first = await request("jobs");
    expect(await request("jobs", later, "key:op2")).to.deep.equal(first);
    expect(await open()).to.deep.equal([{ projection: "jobs", requestedAt: now, requestedBy: "key:op1", error: null }]);
    await carryOut();
    await carryOut();
    expect(rebuilt).to.have.length(1);
  });

  it("is done once by several processes", async () => {
    await request("jobs");
    let goOn = (): void => {};
    const isDone = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    // It has read the request, and comes to the lock when the others are done.
    const late = carryOut({ db: answering(side.db, () => isDone) });
    await Promise.all([1, 2, 3].map(() => carryOut()));
    goOn();
    await late;
    expect(rebuilt).to.have.length(1);
    expect(await tablesOfBoth(side.db)).to.deep.include(right[0]);
  });

  it("of what there is not is refused", async () => {
    expect(await request("nothing")).to.equal(null);
    expect(await open()).to.deep.equal([]);
  });

  it("outlives what its projection writes about itself, and stands beside it", async () => {
    await request("jobs");
    await writeStatus(side.db, jobsProjector, { status: "stopped", error: "Event 3 is odd.", stoppedAtSequence: 3 });
    const [jobs, logs] = await readModels.list();
    expect(jobs).to.deep.include({ status: "stopped", error: "Event 3 is odd.", stoppedAtSequence: 3 });
    expect(jobs?.request).to.include({ requestedBy: "key:op1" });
    expect(logs).to.deep.include({ status: "live", error: null, request: null });
  });

  it("waits while another process rebuilds the same, holds up no other, and is done after that", async () => {
    await request("jobs", earlier);
    await request("outcomes");
    await holdingRebuildLocks(side.db, [jobsProjector], () => carryOut());
    expect((await open()).map(({ projection }) => projection)).to.deep.equal(["jobs"]);
    expect(failures).to.deep.equal([]);
    await carryOutNext();
    expect(await tablesOfBoth(side.db)).to.deep.equal(right);
  });

  it("is given up where waiting does not help, says why, and can be asked for again", async () => {
    await request("jobs");
    const broken = alteredLog(side.log, (entry) => (entry.sequence === 5 ? "undecodable" : entry));
    await carryOut({ log: broken });
    const [given] = await open();
    expect(given?.error).to.include("Event 5");
    await carryOut();
    expect(rebuilt).to.deep.equal([]);
    expect(await request("jobs", later, "key:op2")).to.deep.equal({
      projection: "jobs",
      requestedAt: later,
      requestedBy: "key:op2",
      error: null,
    });
    await carryOutNext();
    expect(rebuilt).to.have.length(1);
  });

  it("is tried again after trouble that may pass", async () => {
    await request("jobs");
    const away = { ...side.log, state: () => Promise.reject(new Error("The log is away.")) };
    await carryOut({ log: away });
    expect(failures.map(String)).to.deep.equal(["Error: The log is away."]);
    expect((await open())[0]).to.include({ error: null });
    await carryOutNext();
  });

  it("is done once its rows are live, though the server takes too long to drop the former ones", async () => {
    await request("jobs");
    await carryOut();
    await request("jobs", later);
    const silent = Object.assign(new Error("The database did not answer."), { fatal: true });
    const db = answering(side.db, (sql) => (sql.startsWith("DROP TABLE") ? Promise.reject(silent) : Promise.resolve()));
    await carryOut({ db });
    expect(failures).to.deep.equal([]);
    expect(await open()).to.deep.equal([]);
    expect(rebuilt).to.have.length(2);
  });

  it("is left to the processes of a newer release, where its rows or its name are theirs", async () => {
    await request("jobs");
    await request("outcomes");
    const older = { ...jobsProjector, version: jobsProjector.version - 1 };
    await carryOut({ projectors: [older] });
    expect(await open()).to.have.length(2);
    const [sets] = await readTableSets(side.db, [jobsProjector]);
    expect(sets?.live?.version).to.equal(jobsProjector.version);
  });

  it("is reported where the requests themselves cannot be read", async () => {
    await side.db.schema.dropTable("rebuild_requests");
    expect((await failureOf(carryOut())).message).to.include("rebuild_requests");
  });
});

/** A database whose answers come when that has happened, or not at all. */
const answering = (db: Knex, when: (sql: string) => Promise<void>): Knex =>
  new Proxy(db, {
    get: (target, name, receiver) =>
      name === "raw"
        ? async (...asked: Parameters<Knex["raw"]>) => {
            const answer = await target.raw(...asked);
            await when(String(asked[0]));
            return answer;
          }
        : Reflect.get(target, name, receiver),
  });
