import { createHash } from "node:crypto";
import { expect } from "chai";
import { parse } from "csv-parse/sync";
import { type ApiClient, createApiClient, type JobAnswer } from "../support/api-client.ts";
import { openStream, readToEnd } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Line = Readonly<Record<string, unknown>>;

const [small, large, recipients] = [1050, 4, 700];

describe("a report over what the service has done", function () {
  // 1,054 jobs are made first, more than a page of a report, on a machine on which other tests compete.
  this.timeout(300_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(waybill.url);
    const many = Array.from({ length: recipients }, (_, index) => `person${index}@example.com`);
    const mailings = [
      ...Array.from({ length: small }, (_, index) => ({
        subject: `=${index}`,
        body: "x",
        recipients: ["ada@example.com"],
      })),
      ...Array.from({ length: large }, () => ({ subject: "To all", body: "x", recipients: many })),
    ];
    for (let first = 0; first < mailings.length; first += 10) {
      await Promise.all(mailings.slice(first, first + 10).map((mailing) => client.create(mailing)));
    }
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  async function make(payload: object): Promise<{ readonly job: JobAnswer; readonly file: string }> {
    const jobId = await client.create({ type: "report.export", payload });
    const job = await client.ended(jobId, 60_000);
    expect(job.status).to.equal("completed");
    const answered = await fetch(`${waybill.url}/api/jobs/${jobId}/result`);
    const file = Buffer.from(await answered.arrayBuffer());
    expect(answered.headers.get("Content-Length")).to.equal(String(file.length));
    const sha256 = createHash("sha256").update(file);
    expect(answered.headers.get("Repr-Digest")).to.equal(`sha-256=:${sha256.digest("base64")}:`);
    return { job, file: file.toString() };
  }

  const linesIn = (file: string): readonly Line[] =>
    file
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const recordsIn = (file: string): readonly Line[] => parse(file, { columns: true, record_delimiter: "\r\n" });

  /** By the list, page by page. */
  async function allJobs(): Promise<readonly Line[]> {
    const found: Line[] = [];
    for (let query = "order=asc&pageSize=100&type=email.send"; ; ) {
      const { body } = await eventually(async () => {
        const answer = await client.get(`/api/jobs?${query}`);
        expect(answer.status).to.equal(200);
        return answer;
      });
      const { data, pagination } = body as { data: Line[]; pagination: { nextCursor: string | null } };
      found.push(...data);
      if (pagination.nextCursor === null) return found;
      query = `order=asc&pageSize=100&type=email.send&cursor=${pagination.nextCursor}`;
    }
  }

  it("has each job that was asked for before it, while mails are still going out", async () => {
    const { file, job } = await make({ of: "jobs", format: "csv" });
    const records = recordsIn(file);
    expect(job.progress).to.include({ sent: records.length, total: records.length, pending: 0, failed: 0 });
    const mailings = records.filter(({ type }) => type === "email.send");
    const expected = await allJobs();
    expect(expected).to.have.lengthOf(small + large);
    expect(mailings.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
    // A subject like this would be a formula.
    expect(mailings[0]).to.include({ subject: `'${expected[0]?.["subject"]}` });
  });

  it("has each line of each job's log", async () => {
    for (const job of await allJobs()) await client.ended(job["id"] as string, 120_000);
    const { file, job } = await make({ of: "logs", format: "ndjson" });
    const lines = linesIn(file);
    expect(lines).to.have.lengthOf(small + large * recipients);
    expect(job.progress).to.include({ sent: lines.length, total: lines.length });
    const byJob = new Map<unknown, Line[]>();
    for (const { jobId, ...line } of lines) byJob.set(jobId, [...(byJob.get(jobId) ?? []), line]);
    const jobs = await allJobs();
    for (const { id, progress } of [...jobs.slice(0, 20), ...jobs.slice(-large)]) {
      const { body } = await client.get(`/api/jobs/${id}/logs`);
      const ofJob = byJob.get(id);
      expect(ofJob).to.deep.equal(body);
      expect(ofJob).to.have.lengthOf((progress as { total: number }).total);
    }
  });

  it("of events is what the feed of events has", async () => {
    const { file, job } = await make({ of: "events", format: "ndjson" });
    const answered = await fetch(`${waybill.url}/api/events?wait=0`, { headers: { Accept: "application/x-ndjson" } });
    const feed = linesIn(await answered.text());
    const begun = feed.findIndex(({ jobId, type }) => jobId === job.id && type === "JobStarted");
    expect(begun).to.be.greaterThan(small * 4);
    expect(linesIn(file)).to.deep.equal(feed.slice(0, begun));
  });

  it("is told live, and ends with all of its rows", async () => {
    const jobId = await client.create({ type: "report.export", payload: { of: "events", format: "csv" } });
    const events = await readToEnd(await openStream(`${waybill.url}/api/jobs/${jobId}/stream`));
    const last = events.at(-1)?.data as JobAnswer;
    expect(last).to.include({ status: "completed" });
    expect(last.progress.sent).to.be.greaterThan(small * 4);
    expect(last.progress.total).to.equal(last.progress.sent);
  });

  it("says nothing personal in the log", async () => {
    const { job } = await make({ of: "logs", format: "csv" });
    const { body } = await client.get(`/api/jobs/${job.id}/events`);
    expect(JSON.stringify(body)).not.to.match(/@example\.com|To all/);
  });

  it("is refused with every fault of what was asked", async () => {
    const payload = { of: "mails", format: "xml", from: "yesterday", sort: "asc" };
    const { status, body } = await client.post("/api/jobs", {
      type: "report.export",
      payload,
      subject: "x",
      recipients: [],
    });
    expect(status).to.equal(400);
    const pointers = (body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);
    expect(pointers).to.include.members([
      "/payload/of",
      "/payload/format",
      "/payload/from",
      "/payload/sort",
      "/subject",
      "/recipients",
    ]);
    const swapped = { of: "jobs", format: "csv", from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z" };
    const answered = await client.post("/api/jobs", { type: "report.export", payload: swapped });
    expect(answered.status).to.equal(400);
    expect(JSON.stringify(answered.body)).to.include("/payload/to");
    expect((await client.post("/api/jobs", { type: "report.export" })).status).to.equal(400);
  });

  it("waits for its time, can be cancelled before, and has no file then", async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const jobId = await client.create({ type: "report.export", payload: { of: "jobs", format: "csv" }, scheduledAt });
    const early = await client.get(`/api/jobs/${jobId}/result`);
    expect([early.status, (early.body as Line)["currentStatus"]]).to.deep.equal([409, "scheduled"]);
    await client.delete(`/api/jobs/${jobId}`);
    expect(await client.ended(jobId)).to.include({ status: "cancelled" });
    const late = await client.get(`/api/jobs/${jobId}/result`);
    expect([late.status, (late.body as Line)["currentStatus"]]).to.deep.equal([409, "cancelled"]);
  });
});
