import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { trustNothing } from "../../src/seals/check.ts";
import { indexOfParts } from "../../src/seals/mailing-parts.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { openStream, readToEnd } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { expectDescribed } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Mailing = {
  readonly id: string;
  readonly status: string;
  readonly progress: Readonly<Record<string, number>>;
  readonly parts: number;
  readonly partsMade: number;
  readonly completedAt: string | null;
};

type Imported = {
  readonly code: string;
  readonly faults: readonly { readonly line: number; readonly message: string }[];
  readonly errors: readonly { readonly pointer: string }[];
};

const letter = { subject: "Hello {{ name }}", body: "Dear {{ name }}", name: "Autumn", metadata: { campaign: "11" } };
const csv = "text/csv";
const ndjson = "application/x-ndjson";

describe("a mailing", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: Waybill;
  let client: ApiClient;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    service = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(service.url);
  });
  after(async () => {
    await service.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  const draft = (request: object = letter): Promise<string> => client.createMailing(request);
  const importInto = async (id: string, type: string, file: string | Uint8Array, headers = {}) => {
    const path = `/api/mailings/${id}/recipients`;
    const init = { method: "PUT", headers: { "Content-Type": type, ...headers }, body: file };
    const response = await fetch(service.url + path, init);
    const answered = { status: response.status, headers: response.headers, body: (await response.json()) as Imported };
    expectDescribed("PUT", service.url + path, answered);
    return answered;
  };
  const find = async (id: string) => (await client.get(`/api/mailings/${id}`)).body as Mailing;
  const ended = (id: string) =>
    eventually(async () => {
      const mailing = await find(id);
      if (mailing.completedAt === null) throw new Error(`It goes on: ${JSON.stringify(mailing)}`);
      return mailing;
    }, 60_000);
  const mailed = () => mailServer.mails.flatMap(({ to }) => to).sort();
  async function pagesOf(path: string) {
    const found: { readonly email: string }[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await client.get(`${path}${cursor}`);
      const { data, nextCursor } = body as { data: { email: string }[]; nextCursor: string | null };
      found.push(...data);
      if (nextCursor === null) return found;
      cursor = `&cursor=${nextCursor}`;
    }
  }
  const people = (count: number, first = 0) =>
    Array.from({ length: count }, (_, index) => `person${first + index}@example.com`);
  const csvOf = (addresses: readonly string[]) =>
    `email,name\n${addresses.map((address) => `${address},${address.split("@")[0]}\n`).join("")}`;

  it("is mailed to each address of its files exactly once, in parts", async () => {
    const id = await draft();
    expect(await find(id)).to.deep.include({ id, status: "draft", name: "Autumn", parts: 0, subject: letter.subject });

    const first = csvOf(people(2300));
    const bad = 'nobody@,x\n"Ada@Example.com",Ada\nada@example.com,Ada\n';
    expect((await importInto(id, csv, first + bad)).body).to.deep.equal({
      lines: 2303,
      added: 2301,
      duplicates: 1,
      faulty: 1,
      faults: [{ line: 2302, message: 'email is "nobody@"; expected an e-mail address such as ada@example.com' }],
    });
    expect((await importInto(id, csv, first + bad)).body).to.include({ added: 0, duplicates: 2302, faulty: 1 });
    const more =
      '{"email":"bob@example.com","variables":{"name":"Bob"}}\n\n"person1@example.com"\n7\nnonsense\n"eve@example.com"\n';
    const packed = await importInto(id, ndjson, gzipSync(more), { "Content-Encoding": "gzip" });
    expect(packed.body).to.deep.include({ lines: 5, added: 1, duplicates: 1, faulty: 3 });
    expect(packed.body.faults.map(({ line }) => line)).to.deep.equal([4, 5, 6]);
    expect(packed.body.faults[2]?.message).to.match(/^cannot fill in subject/);

    const started = await client.post(`/api/mailings/${id}/start`);
    expect(started.status, JSON.stringify(started.body)).to.equal(200);
    expect(started.body).to.include({ status: "processing", parts: 4 });
    const refused = await importInto(id, csv, first);
    expect([refused.status, refused.body.code]).to.deep.equal([409, "mailing-has-started"]);

    const mailing = await ended(id);
    expect(mailing).to.deep.include({
      status: "completed",
      partsMade: 4,
      progress: {
        sent: 2302,
        failed: 0,
        total: 2302,
        pending: 0,
        deferred: 0,
        unknown: 0,
        suppressed: 0,
        bounced: 0,
        complained: 0,
      },
    });
    expect(mailed()).to.deep.equal(["Ada@example.com", "bob@example.com", ...people(2300)].sort());
    const { body: jobs } = await client.get(`/api/jobs?mailing=${id}&pageSize=3`);
    expect((jobs as { pagination: object }).pagination).to.include({ total: 4 });
    for (const job of (jobs as { data: { mailing: string }[] }).data) expect(job.mailing).to.equal(id);
    const { body: listed } = await client.get("/api/mailings");
    expect((listed as { data: Mailing[] }).data[0]).to.deep.equal(mailing);

    const reached = mailed()
      .map((address) => address.toLowerCase())
      .sort();
    const everyone = await pagesOf(`/api/mailings/${id}/recipients?status=sent&pageSize=1000`);
    expect(everyone.map(({ email }) => email.toLowerCase()).sort()).to.deep.equal(reached);
    const log = (await client.get(`/api/mailings/${id}/logs`)).body as {
      readonly id: string;
      readonly email: string;
    }[];
    expect(log.map(({ email }) => email.toLowerCase()).sort()).to.deep.equal(reached);
    const places = log.map((line) => line.id.split(".").map(Number) as [number, number]);
    expect(places).to.deep.equal(places.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]));
    const [last] = await readToEnd(await openStream(`${service.url}/api/mailings/${id}/stream`));
    expect(last?.data).to.deep.equal(mailing);
    const bundle = await fetch(`${service.url}/api/mailings/${id}/evidence`);
    const report = verifyEvidence(Buffer.from(await bundle.arrayBuffer()), trustNothing);
    expect(report.checks.filter(({ ok }) => !ok)).to.deep.equal([]);
    expect(indexOfParts(report.events)?.parts.map(({ recipients }) => recipients)).to.deep.equal([1000, 1000, 301, 1]);
  });

  it("that is cancelled in the middle mails nobody more, and forgets the rest", async () => {
    mailServer.forgetMails();
    mailServer.slowDown(20);
    const id = await draft();
    expect((await importInto(id, csv, csvOf(people(25_000)))).body).to.include({ added: 25_000 });
    await client.post(`/api/mailings/${id}/start`);
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(50), 30_000);
    const cancelled = await client.post(`/api/mailings/${id}/cancel`, { reason: "sent by mistake" });
    expect(cancelled.body).to.include({ status: "cancelled" });
    await eventually(async () => {
      const { body } = await client.get(`/api/jobs?mailing=${id}&pageSize=100`);
      const statuses = (body as { data: { status: string }[] }).data.map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set(["cancelled"]));
      expect(statuses.length).to.be.at.most(20);
    }, 10_000);
    mailServer.slowDown(0);
    const count = await eventually(async () => {
      const { progress } = await find(id);
      expect(mailServer.mails.length).to.equal(progress["sent"]);
      return mailServer.mails.length;
    }, 10_000);
    expect(count).to.be.lessThan(5000);
    const again = await client.post(`/api/mailings/${id}/cancel`);
    expect([again.status, (again.body as { code: string }).code]).to.deep.equal([409, "mailing-has-ended"]);
  });

  it("waits while it is paused, and goes on", async () => {
    mailServer.forgetMails();
    mailServer.slowDown(100);
    const id = await draft();
    await importInto(id, csv, csvOf(people(1500)));
    await client.post(`/api/mailings/${id}/start`);
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(20), 30_000);
    expect((await client.post(`/api/mailings/${id}/pause`)).body).to.include({ status: "paused" });
    await eventually(async () => {
      const { body } = await client.get(`/api/jobs?mailing=${id}`);
      for (const { status } of (body as { data: { status: string }[] }).data) expect(status).to.equal("paused");
    }, 10_000);
    mailServer.slowDown(0);
    await client.post(`/api/mailings/${id}/resume`);
    expect(await ended(id)).to.include({ status: "completed" });
    expect(mailed()).to.deep.equal(people(1500).sort());
  });

  it("is scheduled until its time has come", async () => {
    mailServer.forgetMails();
    const id = await draft({ subject: "Hello", body: "Later" });
    await importInto(id, ndjson, '"ada@example.com"\n{"email":"bob@example.com"}\n');
    const scheduledAt = new Date(Date.now() + 3000).toISOString();
    const { body } = await client.post(`/api/mailings/${id}/start`, { scheduledAt });
    expect(body).to.include({ status: "scheduled", scheduledAt });
    expect(await ended(id)).to.include({ status: "completed" });
    expect(Date.now()).to.be.greaterThan(Date.parse(scheduledAt));
  });

  it("says what is wrong with a request, and what its status forbids", async () => {
    const refusedDraft = await client.post("/api/mailings", {
      ...letter,
      recipients: [],
    });
    expect(refusedDraft.status).to.equal(400);
    const id = await draft();
    const code = async (path: string, body?: object) => {
      const answer = await client.post(`/api/mailings/${path}`, body);
      return [answer.status, (answer.body as { code: string }).code];
    };
    expect(await code(`${id}/start`)).to.deep.equal([409, "mailing-is-empty"]);
    expect(await code(`${id}/pause`)).to.deep.equal([409, "mailing-not-started"]);
    expect(await code(`${id}/resume`)).to.deep.equal([409, "mailing-not-paused"]);
    expect(await code("0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f/start")).to.deep.equal([404, "mailing-not-found"]);
    const wrong = await importInto(id, csv, "name\nAda\n");
    expect([wrong.status, wrong.body.errors[0]?.pointer]).to.deep.equal([400, "/1"]);
  });
});
