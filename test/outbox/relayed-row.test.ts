import { randomUUID } from "node:crypto";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { digestOf } from "../../src/content/encode-content.ts";
import { eventually } from "../support/eventually.ts";
import { mailingOfRow, type OutboxSide, openOutboxSide } from "../support/outbox-side.ts";

describe("a row that an application writes into the outbox", () => {
  let side: OutboxSide;
  let application: mysql.Connection;

  before(async () => {
    side = await openOutboxSide();
    application = await mysql.createConnection(side.url);
    side.startRelay();
  });
  after(async () => {
    await application.end();
    await side.cleanUp();
  });

  const processed = (id: string) =>
    eventually(async () => {
      const row = await side.row(id);
      expect(row.status).to.equal("processed");
      return row;
    });
  const createdOf = async (id: string) => (await side.created()).filter((entry) => entry.correlationId === id);

  it("becomes a job, and says which", async () => {
    const id = randomUUID();
    await application.execute("INSERT INTO outbox (id, request) VALUES (?, ?)", [id, JSON.stringify(mailingOfRow)]);
    const row = await processed(id);
    const [created, ...others] = await createdOf(id);
    expect(others).to.deep.equal([]);
    expect(row.response).to.deep.equal({ jobId: created?.jobId, status: "pending", createdAt: created?.event.at });
    expect(row).to.include({ attempts: 1, next_retry_at: null, tenant: "default" });
    expect(created).to.include({ tenant: "default", actor: "outbox", correlationId: id });
  });

  it("keeps what it asked for apart from the log, as every job does", async () => {
    const id = await side.insert();
    const { jobId } = (await processed(id)).response;
    const content = await side.dependencies.contentStore.get({ tenant: "default", jobId });
    expect(Buffer.from(content ?? []).toString()).to.include("ada@example.com");
  });

  it("may name a template of its tenant", async () => {
    const text = JSON.stringify({ subject: "Autumn", body: "Hello" });
    const letter = { text, sha256: digestOf(text) };
    await side.templates.put({ tenant: "acme", name: "news" }, letter, new Date().toISOString());
    const request = { template: "news", recipients: ["ada@example.com"] };
    const id = await side.insert({ tenant: "acme", request });
    const use = { name: "news", version: 1, sha256: letter.sha256 };
    expect((await processed(id)).response.template).to.deep.equal(use);
    expect((await createdOf(id))[0]?.event.data.template).to.deep.equal(use);
    const ofAnother = await side.insert({ request });
    const row = await eventually(async () => {
      const found = await side.row(ofAnother);
      expect(found.status).to.equal("failed");
      return found;
    });
    expect(row.response.detail).to.equal('template is "news"; expected the name of a stored template.');
  });

  it("may name a tenant, and a time", async () => {
    const id = await side.insert({
      tenant: "acme",
      request: { ...mailingOfRow, scheduledAt: "2099-01-01T00:00:00.000Z" },
    });
    expect((await processed(id)).response).to.include({ status: "scheduled" });
    expect((await createdOf(id))[0]).to.include({ tenant: "acme" });
  });

  it("is taken within a second of its transaction's end, whatever the time zone of the session", async () => {
    const id = randomUUID();
    await application.query("SET time_zone = '+13:00'");
    await application.query("INSERT INTO outbox (id, request) VALUES (?, ?)", [id, JSON.stringify(mailingOfRow)]);
    const writtenAt = Date.now();
    // A loaded machine may be late; a time zone that was taken for another is late by hours.
    const { created_at } = await processed(id);
    expect(Math.abs(created_at.getTime() - writtenAt)).to.be.lessThan(60_000);
  });

  it("makes no job while its transaction is open, and none at all when that is rolled back", async () => {
    const undone = randomUUID();
    const insert = "INSERT INTO outbox (id, request) VALUES (?, ?)";
    await application.beginTransaction();
    await application.query(insert, [undone, JSON.stringify(mailingOfRow)]);
    // Others are relayed meanwhile: the relay does not wait for a transaction that is open.
    await processed(await side.insert());
    expect(await createdOf(undone)).to.deep.equal([]);
    await application.rollback();
    await processed(await side.insert());
    expect(await createdOf(undone)).to.deep.equal([]);
  });

  it("is the same row whatever the case of its id", async () => {
    const id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301";
    await side.insert({ id });
    const { jobId } = (await processed(id)).response;
    await side.db("outbox").where({ id }).delete();
    await side.insert({ id: id.toLowerCase() });
    expect((await processed(id.toLowerCase())).response.jobId).to.equal(jobId);
    expect(await createdOf(id.toLowerCase())).to.have.length(1);
  });

  it("has the same result when it is set to pending once more", async () => {
    const id = await side.insert();
    const before = await processed(id);
    await side.db("outbox").where({ id }).update({ status: "pending", attempts: 0, response: null });
    expect((await processed(id)).response).to.deep.equal(before.response);
    expect(await createdOf(id)).to.have.length(1);
  });

  it("has the same result also where the rules of its tenant would refuse it by now", async () => {
    side.rules["rich"] = { senders: ["example.com"], dailyRecipients: null, approvalAbove: null };
    const request = { ...mailingOfRow, from: "ada@example.com" };
    const id = await side.insert({ tenant: "rich", request });
    const before = await processed(id);
    side.rules["rich"] = { senders: ["example.org"], dailyRecipients: null, approvalAbove: null };
    await side.db("outbox").where({ id }).update({ status: "pending", attempts: 0, response: null });
    const after = await eventually(async () => {
      const row = await side.row(id);
      expect(row.status).not.to.equal("pending");
      return row;
    });
    expect([after.status, after.response]).to.deep.equal(["processed", before.response]);
    expect(await createdOf(id)).to.have.length(1);
  });
});
