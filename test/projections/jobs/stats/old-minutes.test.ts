import { expect } from "chai";
import type { Knex } from "knex";
import { activities, type MinuteRow } from "../../../../projections/jobs/stats/activities.ts";
import { addActivities } from "../../../../projections/jobs/stats/write-activities.ts";
import { createDatabase, inTransaction } from "../../../../src/database/database.ts";
import { insertRows } from "../../../../src/database/write-rows.ts";
import { migratedDatabase } from "../../../support/migrated-database.ts";
import type { TestDatabase } from "../../../support/services.ts";

const none = Object.fromEntries(activities.map((activity) => [activity, 0])) as Omit<MinuteRow, "tenant" | "minute">;

const inMinute = (minute: string, tenant = "acme") => ({ ...none, tenant, minute: new Date(minute), jobs_created: 1 });

describe("The counts of minutes that are over a month old", () => {
  let database: TestDatabase;
  let db: Knex;

  before(async () => {
    database = await migratedDatabase();
    db = createDatabase(database.url);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });
  beforeEach(() => db("stats_minutes").delete());

  const store = (rows: readonly MinuteRow[]): Promise<void> =>
    inTransaction(db, (transaction) =>
      insertRows<MinuteRow>(transaction, {
        table: "stats_minutes",
        columns: ["tenant", "minute", ...activities],
        rows,
      }),
    );
  /** Something happens in a minute; returns how many rows each statement has deleted. */
  const happensIn = async (minute: string): Promise<readonly number[]> => {
    const deleted: number[] = [];
    await inTransaction(db, async (transaction) => {
      transaction.on("query-response", ([{ affectedRows }]: [{ affectedRows: number }], { sql }: { sql: string }) => {
        if (/^DELETE .*stats_minutes/.test(sql)) deleted.push(affectedRows);
      });
      await addActivities(transaction, "", new Map([["one", inMinute(minute)]]));
    });
    return deleted;
  };
  const minutes = async (): Promise<readonly string[]> =>
    (await db("stats_minutes").orderBy("minute").pluck("minute")).map((minute: Date) => minute.toISOString());

  it("are dropped some at a time: a statement about those of ten thousand tenants outlasts its connection", async () => {
    await store(Array.from({ length: 12_000 }, (_, index) => inMinute("2026-01-01T10:00:00Z", `tenant-${index}`)));
    const deleted = await happensIn("2026-06-01T10:00:00Z");
    expect(deleted).to.deep.equal([5000, 5000, 2000]);
    expect(await minutes()).to.deep.equal(["2026-06-01T10:00:00.000Z"]);
  });

  it("are dropped every five minutes, so that they are few", async () => {
    await store(["01", "04", "06"].map((minute) => inMinute(`2026-05-01T10:${minute}:00Z`)));
    await happensIn("2026-06-01T10:04:00Z");
    expect(await minutes()).to.have.length(4);
    await happensIn("2026-06-01T10:05:00Z");
    expect(await minutes()).to.deep.equal([
      "2026-05-01T10:06:00.000Z",
      "2026-06-01T10:04:00.000Z",
      "2026-06-01T10:05:00.000Z",
    ]);
  });
});
