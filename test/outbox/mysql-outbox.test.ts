import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import { createDatabase, inTransaction } from "../../src/database/database.ts";
import { createMysqlOutbox } from "../../src/outbox/mysql-outbox.ts";
import { delayAfterAttempt, type Outbox, type RowResult, type TakenRow } from "../../src/outbox/outbox.ts";
import { toProblem } from "../../src/schemas/problem.ts";
import { readOutboxRow } from "../support/outbox-side.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

const share = { rows: 10, bytes: 100_000, bytesOfRow: 50_000 };
const response = { jobId: "job-1", status: "pending", createdAt: "2026-11-21T09:30:00.000Z" } as const;
const problem = toProblem("invalid-json", "The request is not JSON.");

describe("the table of the outbox", () => {
  let database: TestDatabase;
  let db: ReturnType<typeof createDatabase>;
  let outbox: Outbox;

  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    await migrate(db, allProjectors);
    outbox = createMysqlOutbox(db);
  });
  beforeEach(() => db("outbox").delete());
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  async function insert(tenant: string, count = 1, request: unknown = {}): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    await db("outbox").insert(ids.map((id) => ({ id, tenant, request: JSON.stringify(request) })));
    return ids;
  }
  const take = async (...tenants: string[]) => (await outbox.take(tenants, share)).rows;
  const takeOne = async (): Promise<TakenRow> => {
    await insert("acme");
    const [row] = await take("acme");
    return row as TakenRow;
  };
  const settle = (...results: RowResult[]) => outbox.settle(results);

  it("hands a row to one relay alone, until its lease is over", async () => {
    const ids = await insert("acme", 3);
    const [first, second] = await Promise.all([take("acme"), take("acme")]);
    expect([...first, ...second].map(({ id }) => id).sort()).to.deep.equal([...ids].sort());
    expect(await take("acme")).to.deep.equal([]);
    expect(await outbox.waiting(10)).to.deep.equal([]);
    await db("outbox").update({ next_retry_at: db.raw("CURRENT_TIMESTAMP(3) - INTERVAL 1 SECOND") });
    expect((await take("acme")).map(({ attempts }) => attempts)).to.deep.equal([2, 2, 2]);
  });

  it("skips rows that another transaction has locked, and does not wait for them", async () => {
    const [locked] = await insert("acme");
    const [free] = await insert("acme");
    await inTransaction(db, async (transaction) => {
      await transaction("outbox").where({ id: locked }).forUpdate();
      expect((await take("acme")).map(({ id }) => id)).to.deep.equal([free]);
    });
    expect((await take("acme")).map(({ id }) => id)).to.deep.equal([locked]);
  });

  it("gives every tenant its share, however many rows another has", async () => {
    await insert("crowd", 200);
    const [single] = await insert("single");
    expect(await outbox.waiting(10)).to.have.members(["crowd", "single"]);
    const { rows, hasMore } = await outbox.take(["crowd", "single"], share);
    expect(rows.filter(({ tenant }) => tenant === "crowd")).to.have.length(5);
    expect(rows.map(({ id }) => id)).to.include(single);
    expect(hasMore).to.equal(true);
  });

  it("goes around the tenants that have rows due", async () => {
    await insert("later");
    await db("outbox").update({ next_retry_at: db.raw("CURRENT_TIMESTAMP(3) + INTERVAL 1 HOUR") });
    await insert("acme", 3);
    await insert("bold", 3);
    await insert("zeal", 3);
    const turns = createMysqlOutbox(db);
    expect(await turns.waiting(2)).to.deep.equal(["acme", "bold"]);
    expect(await turns.waiting(2)).to.deep.equal(["zeal", "acme"]);
    expect(await turns.waiting(10)).to.deep.equal(["bold", "zeal", "acme"]);
    await db("outbox").where({ tenant: "acme" }).update({ next_retry_at: null });
    expect(await turns.waiting(10)).to.deep.equal(["bold", "zeal", "acme"]);
    await db("outbox").whereNot({ tenant: "later" }).delete();
    expect(await turns.waiting(10)).to.deep.equal([]);
  });

  it("hands over no more bytes than fit, but one row at least", async () => {
    await insert("acme", 5, { body: "x".repeat(40_000) });
    const first = await outbox.take(["acme"], share);
    expect([first.rows.length, first.hasMore]).to.deep.equal([2, true]);
    const next = await outbox.take(["acme"], { ...share, bytes: 10 });
    expect([next.rows.length, next.hasMore]).to.deep.equal([1, true]);
  });

  it("does not read a request that is too long, and says how long it is", async () => {
    await insert("acme", 1, { body: "x".repeat(60_000) });
    const [row] = await take("acme");
    expect(row?.request).to.equal(null);
    expect(row?.bytes).to.be.greaterThan(60_000);
  });

  it("hands over JSON as the text of it, whatever it is", async () => {
    await insert("acme", 1, "a text");
    expect((await take("acme"))[0]?.request).to.equal('"a text"');
  });

  it("lets a row that fails again and again rest ever longer", async () => {
    const row = await takeOne();
    await settle({ row, outcome: "later", delayMs: delayAfterAttempt(9) });
    const { status, next_retry_at, response } = await readOutboxRow(db, row.id);
    expect([status, response]).to.deep.equal(["pending", null]);
    const inMs = (next_retry_at?.getTime() ?? 0) - Date.now();
    expect(inMs).to.be.within(200_000, 300_000);
  });

  it("remembers what became of rows", async () => {
    const made = await takeOne();
    const refused = await takeOne();
    await settle({ row: made, outcome: "processed", response }, { row: refused, outcome: "failed", problem });
    expect(await readOutboxRow(db, made.id)).to.deep.include({ status: "processed", response, next_retry_at: null });
    expect(await readOutboxRow(db, refused.id)).to.deep.include({ status: "failed", response: problem });
    expect(await outbox.waiting(10)).to.deep.equal([]);
  });

  it("believes a relay that lost the row nothing but that a job was made", async () => {
    const old = await takeOne();
    await db("outbox").update({ next_retry_at: null });
    const [current] = await take("acme");
    await settle({ row: old, outcome: "failed", problem });
    await settle({ row: old, outcome: "later", delayMs: 1e6 });
    expect(await readOutboxRow(db, old.id)).to.include({ status: "pending", attempts: 2 });
    await settle({ row: current as TakenRow, outcome: "failed", problem });
    await settle({ row: old, outcome: "processed", response });
    expect(await readOutboxRow(db, old.id)).to.deep.include({ status: "processed", response });
    await settle({ row: current as TakenRow, outcome: "failed", problem });
    expect(await readOutboxRow(db, old.id)).to.deep.include({ status: "processed", response });
  });

  it("takes nothing from an application that deletes what is in hand", async () => {
    const row = await takeOne();
    await db("outbox").delete();
    await settle({ row, outcome: "processed", response });
    expect(await db("outbox").select()).to.deep.equal([]);
  });

  it("finds the waiting tenants and their rows without reading through a backlog", async () => {
    await insert("crowd", 500);
    await insert("single");
    const reads = await inTransaction(db, async (transaction) => {
      const inside = createMysqlOutbox(transaction);
      const before = await rowsRead(transaction);
      expect(await inside.waiting(16)).to.deep.equal(["crowd", "single"]);
      return (await rowsRead(transaction)) - before;
    });
    // Asking is reading too, on some servers.
    expect(reads).to.be.lessThan(50);
  });
});

async function rowsRead(transaction: Knex.Transaction): Promise<number> {
  const [counters] = await transaction.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return counters.reduce((sum: number, { Value }: { Value: string }) => sum + Number(Value), 0);
}
