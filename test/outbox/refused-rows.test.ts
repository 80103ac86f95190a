import { randomUUID } from "node:crypto";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { noRules } from "../../src/domain/tenant.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { maxAttempts, type TakenRow } from "../../src/outbox/outbox.ts";
import { relayRow } from "../../src/outbox/relay-row.ts";
import { eventually } from "../support/eventually.ts";
import { mailingOfRow, type OutboxSide, openOutboxSide } from "../support/outbox-side.ts";

describe("a row of the outbox that cannot become a job", () => {
  let side: OutboxSide;

  before(async () => {
    side = await openOutboxSide();
    side.rules["acme"] = { senders: ["acme.example"], dailyRecipients: null, approvalAbove: null };
    side.rules["small"] = { senders: null, dailyRecipients: 2, approvalAbove: null };
    side.startRelay();
  });
  after(() => side.cleanUp());

  const ended = (id: string) =>
    eventually(async () => {
      const row = await side.row(id);
      expect(row.status).not.to.equal("pending");
      return row;
    });

  /** Written between two rows that are well, which must not be kept from becoming jobs. */
  async function refusalOf(row: Parameters<OutboxSide["insert"]>[0]) {
    const before = await side.insert();
    const id = await side.insert(row);
    const behind = await side.insert();
    const refused = await ended(id);
    expect([(await ended(before)).status, (await ended(behind)).status]).to.deep.equal(["processed", "processed"]);
    expect(refused).to.include({ status: "failed", attempts: 1, next_retry_at: null });
    return refused.response;
  }

  it("gets every fault of its request, as over HTTP", async () => {
    const problem = await refusalOf({ request: { ...mailingOfRow, subject: "", recipients: ["ada@"] } });
    expect(problem).to.include({
      type: "urn:waybill:problem:validation-failed",
      code: "validation-failed",
      status: 400,
      title: "The request breaks a rule",
    });
    const pointers = problem.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.deep.equal(["/recipients/0", "/subject"]);
  });

  for (const request of [[], ["a"], 12, "text", null, {}]) {
    it(`gets a problem if its request is ${JSON.stringify(request)}`, async () => {
      const problem = await refusalOf({ request });
      expect(problem).to.include({ status: 400 });
      expect(problem.code).to.match(/^(invalid-json|validation-failed)$/);
    });
  }

  it("gets a problem that the database takes where that cuts a text of the request in the middle of a character", async () => {
    const problem = await refusalOf({ request: { ...mailingOfRow, [`${"x".repeat(59)}😀 and more`]: 1 } });
    expect(problem.errors).to.have.nested.property("0.pointer", `/${"x".repeat(59)}\u{FFFD}…`);
  });

  it("gets a problem if its id is not a UUID, or its tenant's name is malformed", async () => {
    const problem = await refusalOf({ id: `order-${randomUUID().slice(0, 8)}`, tenant: "Acme Corp." });
    expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(["/id", "/tenant"]);
  });

  it("gets a problem if its tenant is an empty text", async () => {
    const problem = await refusalOf({ tenant: "" });
    expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(["/tenant"]);
  });

  it("may not use an address that is not a sender of its tenant", async () => {
    const problem = await refusalOf({ tenant: "acme", request: { ...mailingOfRow, from: "ceo@other.example" } });
    expect(problem.errors).to.have.length(1);
    expect(problem.errors[0]).to.include({ pointer: "/from" });
    const allowed = await side.insert({ tenant: "acme", request: { ...mailingOfRow, from: "bills@acme.example" } });
    expect(await ended(allowed)).to.include({ status: "processed" });
  });

  it("cannot be a dry run", async () => {
    const problem = await refusalOf({ request: { ...mailingOfRow, dryRun: true } });
    expect(problem.errors[0]).to.include({ pointer: "/dryRun" });
  });

  it("has too many recipients", async () => {
    const recipients = Array.from({ length: 1001 }, (_, index) => `${index}@example.com`);
    expect(await refusalOf({ request: { ...mailingOfRow, recipients } })).to.include({
      code: "too-many-recipients",
      status: 413,
    });
  });

  it("has a content that is too large", async () => {
    expect(await refusalOf({ request: { ...mailingOfRow, body: "x".repeat(1_200_000) } })).to.include({
      code: "content-too-large",
    });
  });

  it("is longer than any request may be, and is not even read", async () => {
    // In steps, as the server takes no statement of this length.
    const id = randomUUID();
    await side.db.raw(
      "INSERT INTO outbox (id, request) VALUES (?, CONCAT('{\"subject\":\"', REPEAT(REPEAT('x', 1000), 9500), '\"}'))",
      [id],
    );
    expect((await ended(id)).response).to.include({ code: "body-too-large", status: 413 });
  });

  it("has a template that cannot be filled in", async () => {
    const problem = await refusalOf({ request: { ...mailingOfRow, body: "Hello {{ name }}" } });
    expect(problem.errors[0].message).to.include("name");
  });

  it("is not JSON, where the server lets that through", async () => {
    const connection = await mysql.createConnection(side.url);
    const id = randomUUID();
    try {
      // MariaDB stores JSON as text, and a session may turn its check off. MySQL accepts only JSON.
      // The driver types rows as what any statement may answer.
      const [[server]] = (await connection.query("SELECT VERSION() AS version")) as unknown as [[{ version: string }]];
      const insert = () => connection.query("INSERT INTO outbox (id, request) VALUES (?, ?)", [id, "{no"]);
      if (!server.version.includes("MariaDB")) {
        const refused = await insert().then(
          () => null,
          (failure: Error) => failure.message,
        );
        expect(refused).to.match(/JSON/);
        return;
      }
      await connection.query("SET SESSION check_constraint_checks = OFF");
      await insert();
    } finally {
      await connection.end();
    }
    expect((await ended(id)).response).to.include({ code: "invalid-json", status: 400 });
  });

  it("has been another request before", async () => {
    const id = await side.insert();
    expect(await ended(id)).to.include({ status: "processed" });
    const request = JSON.stringify({ ...mailingOfRow, subject: "Another" });
    await side.db("outbox").where({ id }).update({ request, status: "pending" });
    const { status, response } = await ended(id);
    expect([status, response.code]).to.deep.equal(["failed", "idempotency-key-reused"]);
    expect(response.detail).to.include("row");
  });

  it("has more recipients than its tenant may have in a day", async () => {
    const recipients = ["a@example.com", "b@example.com", "c@example.com"];
    expect(await refusalOf({ tenant: "small", request: { ...mailingOfRow, recipients } })).to.include({
      code: "quota-exceeded",
      status: 429,
      limit: 2,
    });
  });

  it("waits for the next day where its tenant has had its share of this one", async () => {
    side.rules["one-a-day"] = { senders: null, dailyRecipients: 1, approvalAbove: null };
    expect(await ended(await side.insert({ tenant: "one-a-day" }))).to.include({ status: "processed" });
    const id = await side.insert({ tenant: "one-a-day" });
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    await eventually(async () => {
      const { attempts, next_retry_at } = await side.row(id);
      expect(attempts).to.be.at.least(1);
      expect(Math.abs((next_retry_at?.getTime() ?? 0) - midnight.getTime())).to.be.lessThan(10_000);
    });
    side.rules["one-a-day"] = noRules;
    await side.db("outbox").where({ id }).update({ next_retry_at: null });
    expect(await ended(id)).to.include({ status: "processed" });
  });

  it("fails with the last problem after the last attempt", async () => {
    side.rules["none"] = { senders: null, dailyRecipients: 1, approvalAbove: null };
    expect(await ended(await side.insert({ tenant: "none" }))).to.include({ status: "processed" });
    const id = randomUUID();
    const request = JSON.stringify(mailingOfRow);
    await side.db("outbox").insert({ id, tenant: "none", request, attempts: maxAttempts - 1 });
    const { status, attempts, response } = await ended(id);
    expect({ status, attempts, code: response.code }).to.deep.equal({
      status: "failed",
      attempts: maxAttempts,
      code: "quota-exceeded",
    });
  });

  it("does not fail while it is not known whether its job was created", async () => {
    const { log } = side.dependencies;
    const away = {
      ...log,
      append: async () => {
        throw new Unavailable("NATS did not answer.");
      },
    };
    const request = JSON.stringify(mailingOfRow);
    const row = { id: randomUUID(), tenant: "default", request, bytes: request.length, attempts: maxAttempts };
    const { result } = await relayRow({ ...side.dependencies, log: away }, row as TakenRow);
    expect(result.outcome).to.equal("later");
  });

  it("has been the end of every relay that took it", async () => {
    const id = randomUUID();
    await side.db("outbox").insert({ id, request: JSON.stringify(mailingOfRow), attempts: maxAttempts });
    expect((await ended(id)).response).to.include({ code: "internal-error", status: 500 });
  });

  it("leaves nothing in the log, nor was anything broken by any of it", async () => {
    const created = await side.created();
    const ids = created.map(({ jobId }) => jobId);
    expect(new Set(ids).size).to.equal(ids.length);
    const processed = await side.db("outbox").where({ status: "processed" }).count({ rows: "*" });
    // The one that was written anew has a job, and has failed since.
    expect(ids).to.have.length(Number(processed[0]?.["rows"]) + 1);
    expect([side.waits, side.broken]).to.deep.equal([[], []]);
  });
});
