import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Knex } from "knex";
import mysql from "mysql2/promise";
import { createDatabase } from "../../src/database/database.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { readOutboxRow } from "../support/outbox-side.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

describe("an application that orders its mails in its own transaction", function () {
  this.timeout(150_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  let service: WaybillProcess;
  let client: ApiClient;
  let db: Knex;
  const relays: WaybillProcess[] = [];

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    service = await spawnWaybill(surroundings, "api,scheduler,worker,projector");
    client = createApiClient(service.url);
    db = createDatabase(database.url);
    await eventually(() => db("outbox").select("id"), 20_000);
    await db.raw("CREATE TABLE invoices (number INT PRIMARY KEY)");
  });
  after(async () => {
    for (const relay of relays) await relay.kill();
    await service.terminate();
    await db.destroy();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(() => mailServer.forgetMails());

  const startRelay = async (): Promise<WaybillProcess> => {
    const relay = await spawnWaybill(surroundings, "outbox");
    relays.push(relay);
    return relay;
  };
  const processed = (id: string) =>
    eventually(async () => {
      const row = await readOutboxRow(db, id);
      expect(row.status).to.equal("processed");
      return row;
    }, 20_000);

  /** As the guide for application developers shows it. */
  async function order(connection: mysql.Connection, number: number, email: string): Promise<string> {
    const id = randomUUID();
    const request = { subject: `Invoice ${number}`, body: "It is attached.", recipients: [email] };
    await connection.beginTransaction();
    try {
      await connection.execute("INSERT INTO invoices (number) VALUES (?)", [number]);
      await connection.execute("INSERT INTO outbox (id, request) VALUES (?, ?)", [id, JSON.stringify(request)]);
      await connection.commit();
    } catch (failure) {
      await connection.rollback();
      throw failure;
    }
    return id;
  }

  it("has them sent where it commits, and none where it does not, from Node", async () => {
    await startRelay();
    const connection = await mysql.createConnection(database.url);
    try {
      const id = await order(connection, 17, "ada@example.com");
      const { response } = await processed(id);
      expect((await client.ended(response.jobId)).status).to.equal("completed");
      // The same number again breaks the application's own rule, after the mail was ordered or before.
      const failure = await order(connection, 17, "bob@example.com").catch((reason: Error) => reason);
      expect(failure).to.be.instanceOf(Error);
      await processed(await order(connection, 18, "eve@example.com"));
      await eventually(() => expect(mailServer.mails).to.have.length(2));
      expect(mailServer.mails.map(({ to }) => to[0])).to.deep.equal(["ada@example.com", "eve@example.com"]);
    } finally {
      await connection.end();
    }
  });

  it("has them sent from plain SQL", async () => {
    const statements = `
      START TRANSACTION;
      INSERT INTO invoices (number) VALUES (19);
      INSERT INTO outbox (id, request) VALUES (UUID(), '{
        "subject": "Invoice 19", "body": "It is attached.", "recipients": ["sql@example.com"]
      }');
      COMMIT;`;
    const connection = await mysql.createConnection({ uri: database.url, multipleStatements: true });
    try {
      await connection.query(statements);
    } finally {
      await connection.end();
    }
    await eventually(() => expect(mailServer.mails.map(({ to }) => to[0])).to.deep.equal(["sql@example.com"]));
  });

  it("has each sent once, however often relays are killed", async () => {
    const ids = Array.from({ length: 600 }, () => randomUUID());
    const rows = ids.map((id, index) => ({
      id,
      request: JSON.stringify({ subject: "Hello", body: "Hello", recipients: [`r${index}@example.com`] }),
    }));
    await startRelay();
    await db.batchInsert("outbox", rows, 100);
    const countPending = async (): Promise<number> =>
      (await db("outbox").where({ status: "pending" }).pluck("id")).length;
    for (const most of [550, 400, 250, 100]) {
      await eventually(async () => expect(await countPending()).to.be.at.most(most), 30_000);
      const victims = relays.splice(0);
      const heir = await startRelay();
      for (const victim of victims) await victim.kill();
      expect(heir.pid).not.to.equal(victims[0]?.pid);
    }
    // What a killed relay had in hand waits for the end of its lease.
    await db("outbox").where({ status: "pending" }).update({ next_retry_at: null });
    await eventually(async () => expect(await countPending()).to.equal(0), 60_000);
    const jobIds = new Set<string>();
    for (const id of ids) jobIds.add((await readOutboxRow(db, id)).response.jobId);
    expect(jobIds.size).to.equal(600);
    await eventually(() => expect(mailServer.mails).to.have.length(600), 60_000);
    expect(new Set(mailServer.mails.map(({ to }) => to[0])).size).to.equal(600);
    await eventually(async () => {
      const { body } = await client.get("/api/jobs?pageSize=1");
      expect((body as { pagination: { total: number } }).pagination.total).to.equal(603);
    });
  });
});
