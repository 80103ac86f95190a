import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { QueryKeys } from "../../projections/projector.ts";
import { addQueryKeys } from "../../projections/rebuilding/add-query-keys.ts";
import { readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import { createTables } from "../../projections/rebuilding/table-set.ts";
import { createDatabase } from "../../src/database/database.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { openReadSide, type ReadSide, tablesOf } from "../support/read-side.ts";

const never = new AbortController().signal;
const queryKeys = jobsProjector.queryKeys ?? {};

describe("the keys of queries", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    for (const _ of [1, 2, 3]) await side.mailing();
  });
  afterEach(() => side.cleanUp());

  /** As in `queryKeys`, and of the same tables. */
  const keysOf = async (suffix: "" | "__next"): Promise<Record<string, QueryKeys>> => {
    const found: Record<string, Record<string, string>> = {};
    for (const [table, keys] of Object.entries(queryKeys)) {
      const [rows] = await side.db.raw("SHOW INDEX FROM ??", [table + suffix]);
      const columns: Record<string, string> = {};
      for (const { Key_name: key, Column_name: column } of rows as { Key_name: string; Column_name: string }[]) {
        if (keys[key] !== undefined) columns[key] = columns[key] === undefined ? column : `${columns[key]}, ${column}`;
      }
      found[table] = columns;
    }
    return found;
  };
  /** To tables that a rebuild is to fill. */
  const add = (db = side.db, onKeys = () => {}): Promise<boolean> =>
    addQueryKeys(db, jobsProjector, { suffix: "__next", onKeys }, never);
  const none = Object.fromEntries(Object.keys(queryKeys).map((table) => [table, {}]));

  it("are those of tables that a projector creates, and of tables that a rebuild puts in their place", async () => {
    side.startProjectors();
    await side.caughtUp();
    expect(await keysOf("")).to.deep.equal(queryKeys);
    const rows = await tablesOf(side.db, jobsProjector);
    await side.rebuild([jobsProjector]);
    expect(await keysOf("")).to.deep.equal(queryKeys);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(rows);
  });

  it("come once every event is in the tables, also where a rebuild was interrupted just before", async () => {
    const ending = new AbortController();
    const onKeys = (): void => ending.abort();
    const interrupted = rebuild([jobsProjector], side.rebuildSetup({ onKeys, signal: ending.signal }));
    expect((await failureOf(interrupted)).name).to.equal("AbortError");
    const [sets] = await readTableSets(side.db, [jobsProjector]);
    expect(sets?.next?.sequence).to.equal(18);
    await side.rebuild([jobsProjector]);
    expect(await keysOf("")).to.deep.equal(queryKeys);
  });

  it("are not in the tables before, and those that are there already are not added again", async () => {
    await createTables(side.db, jobsProjector, "__next");
    expect(await keysOf("__next")).to.deep.equal(none);
    await side.db.raw("ALTER TABLE recipients__next ADD KEY by_time (tenant, at, place)");
    const told: string[] = [];
    const tell = (): void => void told.push("told");
    expect(await add(side.db, tell)).to.equal(true);
    expect(await keysOf("__next")).to.deep.equal(queryKeys);
    expect(await add(side.db, tell)).to.equal(false);
    expect(told).to.deep.equal(["told"]);
  });

  it("are added once where the server still adds them for a process that is gone", async () => {
    await createTables(side.db, jobsProjector, "__next");
    await Promise.all([add(), add()]);
    expect(await keysOf("__next")).to.deep.equal(queryKeys);
  });

  it("may take longer than a server may be silent", async () => {
    await createTables(side.db, jobsProjector, "__next");
    const hasty = createDatabase(side.url, { silenceMs: 200 });
    const holder = await side.db.transaction();
    try {
      // The server cannot change the table while others read it.
      await holder.raw("SELECT * FROM jobs__next");
      const adding = add(hasty);
      adding.catch(() => {});
      await eventually(async () => {
        const [rows] = await side.db.raw("SHOW PROCESSLIST");
        const waits = (rows as { Info: string | null; Time: number }[]).filter(
          ({ Info, Time }) => Info?.startsWith("ALTER TABLE `jobs__next`") && Time >= 6,
        );
        expect(waits).to.have.length(1);
      }, 20_000);
      await holder.commit();
      await adding;
    } finally {
      await holder.rollback().catch(() => {});
      await hasty.destroy();
    }
    expect(await keysOf("__next")).to.deep.equal(queryKeys);
  });
});
