import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { describeFailure } from "../../src/process/logger.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

describe("A failure of the database in words", () => {
  let database: TestDatabase;
  let db: Knex;

  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    await db.raw("CREATE TABLE people (email VARCHAR(60) NOT NULL PRIMARY KEY, since DATE NULL)");
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const wordsOf = async (statement: PromiseLike<unknown>): Promise<string> => {
    const failure = await Promise.resolve(statement).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(failure).to.be.instanceOf(Error);
    return describeFailure(failure);
  };

  it("says what is wrong, and quotes no value of a row", async () => {
    const email = "o'neil@example.com";
    await db("people").insert({ email });
    const twice = await wordsOf(db("people").insert({ email }));
    expect(twice).to.match(/^Duplicate entry '…' for key '.*PRIMARY'$/);
    const noDate = await wordsOf(db("people").insert({ email: "a", since: email }));
    expect(noDate).to.match(/^Incorrect date value: '…' for column .*since.* at row 1$/);
    const broken = await wordsOf(db.raw("INSERT INTO people VALUES (?) ONCE", [email]));
    expect(broken).to.include("near '…' at line 1");
    const missing = await wordsOf(db("nobody").insert({ email }));
    expect(missing).to.include("nobody' doesn't exist");
    expect([twice, noDate, broken, missing].join()).to.not.include("neil");
  });
});
