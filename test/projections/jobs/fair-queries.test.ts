import { randomUUID } from "node:crypto";
import { setImmediate as immediately } from "node:timers/promises";
import { expect } from "chai";
import type { Knex } from "knex";
import { everyJob } from "../../../projections/jobs/list-options.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import { createRecipientQueries } from "../../../projections/jobs/recipients/queries.ts";
import { createDatabase } from "../../../src/database/database.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

describe("Queries that take long leave a connection to other tenants, however many one tenant asks:", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  /** Asks many times for one tenant, and once for another, while none of the former gets an answer. */
  async function whileNoneEnds(ask: (db: Knex) => (tenant: string) => Promise<unknown>) {
    const db = createDatabase(side.url, { connections: 3 });
    const query = ask(db);
    await query("one");
    const acquire = db.client.acquireConnection.bind(db.client);
    let end = (): void => {};
    const slow = new Promise<void>((resolve) => {
      end = resolve;
    });
    db.client.acquireConnection = async () => {
      const connection = await acquire();
      await slow;
      return connection;
    };
    const many = Array.from({ length: 5 }, () => query("one"));
    await immediately();
    db.client.acquireConnection = acquire;
    try {
      return await query("other");
    } finally {
      end();
      await Promise.allSettled(many);
      await db.destroy();
    }
  }

  it("searches", async () => {
    const found = await whileNoneEnds((db) => {
      const queries = createJobQueries(side.db, db);
      return (tenant) => queries.list(tenant, { ...everyJob, q: "invoice" });
    });
    expect(found).to.deep.include({ jobs: [] });
  });

  it("all that was sent to an address", async () => {
    const found = await whileNoneEnds((db) => {
      const queries = createRecipientQueries(db);
      return (tenant) => queries.ofAddress(tenant, "ada@example.com", { cursor: null, limit: 20 });
    });
    expect(found).to.deep.include({ entries: [] });
  });

  it("an address among the recipients of a mailing", async () => {
    const wanted = { statuses: [], pageSize: 20, email: "ada@example.com", cursor: null };
    const found = await whileNoneEnds((db) => {
      const queries = createRecipientQueries(db);
      return (tenant) => queries.ofMailing({ tenant, jobId: randomUUID() }, wanted);
    });
    expect(found).to.deep.include({ recipients: [] });
  });
});
