import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase, inTransaction } from "../../src/database/database.ts";
import { insertRows, putRows } from "../../src/database/write-rows.ts";
import { failureOf } from "../support/failure-of.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

type Row = { readonly id: number; readonly text: string | null; readonly bytes: Buffer };

describe("writing rows", () => {
  let database: TestDatabase;
  let db: Knex;
  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    await db.raw("CREATE TABLE notes (id INT PRIMARY KEY, text MEDIUMTEXT NULL, bytes VARBINARY(10) NOT NULL)");
  });
  beforeEach(() => db("notes").delete());
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const row = (id: number, text: string | null = "a", bytes: readonly number[] = [0, 255, 39, 92]): Row => ({
    id,
    text,
    bytes: Buffer.from(bytes),
  });
  const write = (how: typeof insertRows, rows: Iterable<Row>): Promise<void> =>
    inTransaction(db, (transaction) =>
      how<Row>(transaction, { table: "notes", columns: ["id", "text", "bytes"], rows }),
    );
  const written = async (): Promise<readonly Row[]> =>
    (await db<Row>("notes").orderBy("id").select()).map((found) => ({ ...found }));

  it("stores every value as it is", async () => {
    const rows = [row(1, "it's ? ?? \\ 🎉"), row(2, null, [])];
    await write(insertRows, rows);
    expect(await written()).to.deep.equal(rows);
  });

  it("refuses what is there already, and then stores nothing", async () => {
    await write(insertRows, [row(2)]);
    await failureOf(write(insertRows, [row(1), row(2), row(3)]));
    expect(await written()).to.deep.equal([row(2)]);
  });

  it("overwrites what is there already, where it is told to", async () => {
    await write(putRows, [row(1, "old"), row(2, "old")]);
    await write(putRows, [row(2, null, [7]), row(3, "new")]);
    expect(await written()).to.deep.equal([row(1, "old"), row(2, null, [7]), row(3, "new")]);
  });

  it("leaves the columns that it is not told to overwrite", async () => {
    await write(putRows, [row(1, "old"), row(2, "old")]);
    const rows = [row(2, "new", [7]), row(3, "new")];
    await inTransaction(db, (transaction) =>
      putRows<Row>(transaction, { table: "notes", columns: ["id", "text", "bytes"], rows, put: ["bytes"] }),
    );
    expect(await written()).to.deep.equal([row(1, "old"), row(2, "old", [7]), row(3, "new")]);
  });

  it("takes one statement for many rows, and several where one would be long", async () => {
    const statements: string[] = [];
    db.on("query", ({ sql }: { sql: string }) => statements.push(sql));
    const countOf = async (rows: readonly Row[]): Promise<number> => {
      await write(putRows, rows);
      return statements.splice(0).filter((sql) => sql.startsWith("INSERT")).length;
    };
    const large = "x".repeat(100_000);
    expect(await countOf(Array.from({ length: 2000 }, (_, id) => row(id)))).to.equal(1);
    expect(await countOf(Array.from({ length: 6 }, (_, id) => row(id, large)))).to.equal(3);
    expect(await countOf([row(1, large.repeat(3)), row(2)])).to.equal(2);
    expect(await countOf([])).to.equal(0);
  });

  it("asks for the next rows while the server is busy with those before them", async () => {
    const large = "x".repeat(100_000);
    let asked = 0;
    function* rows(): Generator<Row> {
      for (asked = 1; asked <= 6; asked += 1) yield row(asked, large);
    }
    const askedAtAnswers: number[] = [];
    db.on("query-response", (_: unknown, { sql }: { sql: string }) => {
      if (sql.startsWith("INSERT")) askedAtAnswers.push(asked);
    });
    await write(insertRows, rows());
    // A statement has two of them, and the one that does not fit any more has been asked for.
    expect(askedAtAnswers).to.deep.equal([5, 7, 7]);
  });

  it("sends nothing after a statement that failed: the server may have ended the transaction", async () => {
    const large = "x".repeat(1_500_000);
    await write(insertRows, [row(1)]);
    const statements: string[] = [];
    db.on("query", ({ sql }: { sql: string }) => statements.push(sql));
    await failureOf(write(insertRows, [row(1, large), row(2, large), row(3, large)]));
    expect(statements.filter((sql) => sql.startsWith("INSERT"))).to.have.lengthOf(1);
  });
});
