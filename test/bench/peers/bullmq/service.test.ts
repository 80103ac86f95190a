import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { expect } from "chai";
import type { Pool } from "mysql2/promise";
import { freshDatabase, type TestDatabase } from "../../../support/services.ts";
import { createAcceptance, type NewJob } from "./accept-jobs.ts";
import { createApp } from "./app.ts";
import { createReads } from "./read-jobs.ts";
import { createRecord } from "./record-work.ts";
import { openDatabase } from "./tables.ts";

const mailing = {
  subject: "News",
  body: "Hello",
  recipients: ["ada@example.org", "Ada@example.org", "bob@example.org"],
};

describe("the benchmark's BullMQ service", () => {
  let database: TestDatabase;
  let pool: Pool;
  let server: Server;
  let queued: NewJob[];
  let url: string;

  before(async () => {
    database = await freshDatabase();
    pool = await openDatabase(database.url, 4);
    const accept = createAcceptance(pool, async (jobs) => queued.push(...jobs));
    const answer = createApp(accept, createReads(pool, 4)).callback();
    server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/api/jobs`;
  });
  beforeEach(() => {
    queued = [];
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await pool.end();
    await database.drop();
  });

  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, init);
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const post = (body: object, headers: Record<string, string> = {}) =>
    ask("", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  it("has stored a job when it answers, and queued it", async () => {
    const { status, body } = await post(mailing);
    const { body: stored } = await ask(`/${body.jobId}`);
    expect(status).to.equal(201);
    expect(stored).to.include({ id: body.jobId, status: "pending", subject: "News" });
    expect(stored.progress).to.include({ total: 2, pending: 2 });
    expect(queued.map(({ id }) => id)).to.deep.equal([body.jobId]);
  });

  it("refuses what Waybill refuses, with the same words", async () => {
    const { status, body } = await post({ ...mailing, recipients: ["nobody"] });
    expect(status).to.equal(400);
    expect(body.errors[0].pointer).to.equal("/recipients/0");
    expect(queued).to.deep.equal([]);
  });

  it("makes one job of a request that is repeated with its key", async () => {
    const headers = { "Idempotency-Key": "november" };
    const answers = await Promise.all([post(mailing, headers), post(mailing, headers)]);
    const other = await post({ ...mailing, subject: "Other news" }, headers);
    expect(answers[1]?.body).to.deep.equal(answers[0]?.body);
    expect(new Set(queued.map(({ id }) => id)).size).to.equal(1);
    expect(other.status).to.equal(422);
  });

  it("shows what the worker wrote of a job, and of its recipients", async () => {
    const { body } = await post(mailing);
    const { jobId } = body;
    const record = createRecord(pool);
    const job = { of: "job", jobId, attempt: 1, startedAt: new Date() } as const;
    await Promise.all([
      record({ ...job, status: "processing", sent: 0, failed: 0, endedAt: null }),
      ...mailing.recipients.slice(1).map((email, recipient) => {
        const response = { messageId: null, response: "250 Ok", at: new Date() };
        return record({ of: "recipient", jobId, recipient, email, status: "sent", attempt: 1, ...response });
      }),
      record({ ...job, status: "completed", sent: 2, failed: 0, endedAt: new Date() }),
    ]);
    const [{ body: ended }, { body: recipients }, { body: list }] = await Promise.all([
      ask(`/${jobId}`),
      ask(`/${jobId}/recipients`),
      ask("?status=completed&pageSize=1"),
    ]);
    expect(ended).to.include({ status: "completed", attempt: 1, subject: "News" });
    expect(ended.progress).to.include({ sent: 2, pending: 0 });
    expect(
      recipients.data.map(({ status, response }: Record<string, string>) => `${status}: ${response}`),
    ).to.deep.equal(["sent: 250 Ok", "sent: 250 Ok"]);
    expect(list.data.map(({ id }: { id: string }) => id)).to.deep.equal([jobId]);
  });
});
