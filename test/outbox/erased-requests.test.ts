import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import type { JobOfRow } from "../../src/erasure/complete-erasure.ts";
import { jobIdOfOutboxRow } from "../../src/intake/derived-job-id.ts";
import { digestOfRequest } from "../../src/intake/draft-job.ts";
import { createMysqlOutboxRequests } from "../../src/outbox/mysql-outbox-requests.ts";
import { jobCreated } from "../support/examples.ts";
import { migratedDatabase } from "../support/migrated-database.ts";
import { readOutboxRow } from "../support/outbox-side.ts";
import type { TestDatabase } from "../support/services.ts";

type Row = { readonly request: string; readonly status?: "pending" | "processed"; readonly response?: string };

describe("the erasure of an address from the requests in the outbox", () => {
  let database: TestDatabase;
  let db: Knex;

  before(async () => {
    database = await migratedDatabase();
    db = createDatabase(database.url);
  });
  beforeEach(() => db("outbox").delete());
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  async function insert(...rows: readonly Row[]): Promise<readonly string[]> {
    const inserted = rows.map((row) => ({ id: randomUUID(), status: "processed", ...row }));
    await db("outbox").insert(inserted);
    return inserted.map(({ id }) => id);
  }
  const erased = async (): Promise<readonly string[]> => {
    const rows: { id: string; text: string }[] = await db("outbox").select(
      "id",
      db.raw("CAST(request AS CHAR) AS text"),
    );
    return rows.filter(({ text }) => text.includes("erasedAt")).map(({ id }) => id);
  };
  const to = (...recipients: readonly string[]): Row => ({ request: JSON.stringify({ recipients }) });

  const spellings = [
    "info.kö@büro.example",
    "INFO.KÖ@BÜRO.example",
    "info.ko\u0308@bu\u0308ro.example",
    "info.\u212Aö@xn--bro-hoa.example",
    "info.kö@xn--bro-hoa.example",
    "info.kö@büro。ｅxample",
  ];
  const others = ["info.ko@büro.example", "info.kö@buro.example", "info.kö@büro.example.com", "kö@büro.example"];

  it("finds each spelling of it, in whatever of them it was asked for", async () => {
    for (const address of spellings) {
      await db("outbox").delete();
      const named = await insert(...spellings.map((text) => to("bob@example.com", text)));
      const [escaped = ""] = await insert({
        request: '{"recipients": ["info.k\\u00f6@b\\u00fcro.example"], "body": "a\\/b"}',
      });
      await insert(...others.map((text) => to(text)));
      const [waiting = ""] = await insert({ ...to("info.kö@xn--bro-hoa.example"), status: "pending" });
      expect(await createMysqlOutboxRequests(db).eraseAddress("default", address), address).to.deep.equal({
        erased: spellings.length + 1,
        waiting: [jobIdOfOutboxRow("default", waiting)],
      });
      expect([...(await erased())].sort()).to.deep.equal([...named, escaped].sort());
    }
  });

  it("finds a domain in fullwidth letters where it was asked for in ASCII, and leaves texts that only begin like it", async () => {
    const [named = ""] = await insert(to("Ada@ｅxample.com"));
    await insert(to("ada@example.org", "bob@büro.example"), to("ada@example.org"));
    expect(await createMysqlOutboxRequests(db).eraseAddress("default", "ada@example.com")).to.include({ erased: 1 });
    expect(await erased()).to.deep.equal([named]);
  });

  it("covers a row whose job is done before its relay has written down that it was made", async () => {
    const request = JSON.stringify({ recipients: ["ada@example.com"], subject: "Hi" });
    const [same = "", other = ""] = await insert(
      { request, status: "pending" },
      { request: JSON.stringify({ recipients: ["bob@example.com"] }), status: "pending" },
    );
    const requestSha256 = digestOfRequest(JSON.parse(request));
    const created = jobCreated({ requestSha256 }) as JobOfRow["created"];
    const requests = createMysqlOutboxRequests(db);
    for (const id of [same, other]) await requests.eraseRow("default", id, { jobId: `job-of-${id}`, created });
    expect(await erased()).to.deep.equal([same]);
    expect(await readOutboxRow(db, same)).to.deep.include({
      status: "processed",
      next_retry_at: null,
      response: { jobId: `job-of-${same}`, status: "pending", createdAt: created.at },
    });
    expect((await readOutboxRow(db, other)).status).to.equal("pending");
  });

  it("covers with each statement no more bytes than a page may have, or one row", async () => {
    const large = (index: number): Row => ({
      request: JSON.stringify({ recipients: ["ada@example.com"], body: String(index).repeat(4_000) }),
    });
    const largeIds = await insert(...Array.from({ length: 40 }, (_, index) => large(index % 10)));
    await insert(...Array.from({ length: 60 }, () => to("ada@example.com")));
    const most = { rows: 25, bytes: 10_000 };
    const statements: (readonly unknown[])[] = [];
    db.on("query", ({ sql, bindings }: { sql: string; bindings: readonly unknown[] }) => {
      if (sql.includes(" LIKE ")) statements.push(bindings);
    });
    expect(await createMysqlOutboxRequests(db, most).eraseAddress("default", "Ada@example.com")).to.include({
      erased: 100,
    });
    db.removeAllListeners("query");
    const ids: string[] = await db("outbox").orderBy("id").pluck("id");
    const pages = statements.map(([, after, last]) => ids.filter((id) => id > String(after) && id <= String(last)));
    expect(pages.flat(), "each row once").to.deep.equal(ids);
    // Three large rows would be too many.
    for (const page of pages) {
      expect(page.length).to.be.within(1, most.rows);
      expect(page.filter((id) => largeIds.includes(id)).length).to.be.at.most(2);
    }
  });
});
