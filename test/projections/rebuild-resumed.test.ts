import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import { RebuildRefused } from "../../projections/rebuilding/rebuild-lock.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { liveTables, openReadSide, type ReadSide, tablesOf, tablesOfBoth } from "../support/read-side.ts";

/** Where each reader began. */
function watched(log: EventLog): { readonly log: EventLog; readonly begun: readonly number[] } {
  const begun: number[] = [];
  const follow: EventLog["follow"] = (options) => {
    begun.push(options.afterSequence);
    return log.follow(options);
  };
  return { log: { ...log, follow }, begun };
}

describe("a rebuild that was interrupted", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  /** Half of the log is in the new tables, and there it ended. */
  const interruptAfter = async (sequence: number): Promise<void> => {
    const broken = alteredLog(side.log, (entry) => (entry.sequence === sequence + 1 ? "undecodable" : entry));
    expect((await failureOf(side.rebuild([jobsProjector], broken))).message).to.include(`Event ${sequence + 1}`);
    const [sets] = await readTableSets(side.db, [jobsProjector]);
    expect(sets?.next).to.include({ sequence, version: jobsProjector.version });
  };

  it("is gone on with where its tables stand", async () => {
    const live = await liveTables(side);
    await interruptAfter(11);
    const { log, begun } = watched(side.log);
    await side.rebuild([jobsProjector], log);
    expect(begun[0]).to.equal(11);
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
    expect((await readTableSets(side.db, [jobsProjector]))[0]).to.deep.include({ next: null, isAtWork: false });
  });

  it("is begun anew by another version", async () => {
    const live = await liveTables(side);
    await interruptAfter(11);
    const { log, begun } = watched(side.log);
    const newer = { ...jobsProjector, version: jobsProjector.version + 1 };
    await side.rebuild([newer], log);
    expect(begun[0]).to.equal(0);
    const rows = await tablesOf(side.db, jobsProjector);
    expect(rows["jobs"]).to.deep.equal(live[0]?.["jobs"]);
  });

  it("is begun anew for another log", async () => {
    await liveTables(side);
    await interruptAfter(11);
    await side.db("jobs_checkpoint__next").update({ log_created_at: "2020-01-01T00:00:00.000Z" });
    const { log, begun } = watched(side.log);
    await side.rebuild([jobsProjector], log);
    expect(begun[0]).to.equal(0);
  });

  it("by a signal ends at once and leaves what it has", async () => {
    const ending = new AbortController();
    const onProgress = (): void => ending.abort();
    const failure = await failureOf(
      rebuild([jobsProjector], side.rebuildSetup({ onProgress, signal: ending.signal, log: endless(side.log) })),
    );
    expect(failure.name).to.equal("AbortError");
    expect((await readTableSets(side.db, [jobsProjector]))[0]?.next?.sequence).to.be.greaterThan(0);
    await side.rebuild([jobsProjector]);
    expect(await side.db("jobs").select()).to.have.length(3);
  });

  it("is refused while it runs, and taken up once its process is gone", async () => {
    const live = await liveTables(side);
    const first = failureOf(rebuild([jobsProjector], side.rebuildSetup({ log: endless(side.log) })));
    await eventually(async () => {
      expect((await readTableSets(side.db, [jobsProjector]))[0]?.next?.sequence).to.equal(18);
    });
    expect(await failureOf(side.rebuild())).to.be.instanceOf(RebuildRefused);
    expect(await failureOf(side.rebuild([jobsProjector]))).to.be.instanceOf(RebuildRefused);
    expect((await readTableSets(side.db, [jobsProjector]))[0]?.isAtWork).to.equal(true);
    // As when the process is killed: the server sees its connections end.
    await killConnections(side);
    expect((await first).message).to.not.equal("");
    const { log, begun } = watched(side.log);
    await side.rebuild([jobsProjector], log);
    expect(begun).to.not.include(0);
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });
});

/** A log that goes on whenever it is asked, with events that never come. */
function endless(log: EventLog): EventLog {
  let asked = 0;
  const state = async () => {
    asked += 1;
    return { ...(await log.state()), lastSequence: 1_000_000 + asked };
  };
  return { ...log, state };
}

async function killConnections({ db }: ReadSide): Promise<void> {
  const [rows] = await db.raw(
    "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
  );
  for (const { id } of rows as { id: number }[]) await db.raw("KILL ?", [id]).catch(() => {});
}
