import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { Access } from "../../src/access/access.ts";
import type { ResultStore } from "../../src/content/result-store.ts";
import type { ResultEvent } from "../../src/domain/result/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { jobCancelled, jobCompleted, jobCreated, jobFailed, jobStarted, resultStored } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const report = jobCreated({ type: "report.export", total: 0 });

describe("The file of a report", () => {
  let api: RunningApi;
  let results: ResultStore;
  /** How many pieces were read. */
  let read = 0;

  before(async () => {
    const store = createMemoryResultStore();
    results = {
      ...store,
      get: async (ref, index) => {
        read += 1;
        return await store.get(ref, index);
      },
    };
    api = await startApi({ log: createMemoryEventLog(), results });
  });
  after(() => api.close());

  /** A report that is completed, with these pieces. */
  async function reportOf(pieces: readonly Uint8Array[], change: Partial<ResultEvent["data"]> = {}): Promise<JobRef> {
    const job = newJob();
    for (const [index, bytes] of pieces.entries()) {
      const isLast = index === pieces.length - 1;
      await results.put({ ...job, run: 1 }, index, { bytes, rows: 1, cursor: "1", isLast });
    }
    const whole = Buffer.concat(pieces);
    const sha256 = createHash("sha256").update(whole).digest("hex");
    const stored = { chunks: pieces.length, rows: pieces.length, bytes: whole.length };
    await happen(api.log, job, [
      report,
      jobStarted(),
      resultStored({ ...stored, chunks: 1, bytes: 1, sha256: null, ...change }),
      resultStored({ ...stored, sha256, ...change }),
      jobCompleted(),
    ]);
    return job;
  }

  const download = (job: JobRef): Promise<Response> => fetch(`${api.url}/api/jobs/${job.jobId}/result`);

  it("comes byte for byte, with its name, its length and its digest", async () => {
    const pieces = [randomBytes(300_000), Buffer.alloc(0), randomBytes(5)];
    const job = await reportOf(pieces, { of: "logs", format: "csv" });
    const answered = await download(job);
    const bytes = Buffer.from(await answered.arrayBuffer());
    expect(bytes.equals(Buffer.concat(pieces))).to.equal(true);
    expect(answered.status).to.equal(200);
    const header = (name: string) => answered.headers.get(name);
    expect(header("Content-Type")).to.equal("text/csv; charset=utf-8; header=present");
    expect(header("Content-Disposition")).to.equal(`attachment; filename="logs-${job.jobId}.csv"`);
    expect(header("Content-Length")).to.equal("300005");
    const sha256 = createHash("sha256").update(bytes).digest();
    expect(header("Repr-Digest")).to.equal(`sha-256=:${sha256.toString("base64")}:`);
    expect(header("ETag")).to.equal(`"${sha256.toString("hex")}"`);
    expect(header("Cache-Control")).to.match(/no-store/);
  });

  it("is downloaded without a warning of Node on standard error", async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warn);
    try {
      const answered = await download(await reportOf([randomBytes(300_000)], { of: "logs", format: "csv" }));
      await answered.arrayBuffer();
      // Node emits a warning in the next turn of the event loop.
      await setImmediate();
      expect(warnings).to.deep.equal([]);
    } finally {
      process.off("warning", warn);
    }
  });

  it("is lines of JSON where it was asked for as such, and may be empty", async () => {
    const answered = await download(await reportOf([Buffer.alloc(0)], { of: "events", format: "ndjson" }));
    expect(answered.headers.get("Content-Type")).to.equal("application/x-ndjson");
    expect([answered.status, await answered.text()]).to.deep.equal([200, ""]);
  });

  for (const [status, events] of [
    ["pending", []],
    ["processing", [jobStarted(), resultStored({ sha256: null })]],
    ["failed", [jobStarted(), jobFailed()]],
    ["cancelled", [jobCancelled()]],
  ] as const) {
    it(`is not there yet, or never will be, while the job is ${status}`, async () => {
      const job = newJob();
      await happen(api.log, job, [report, ...events]);
      const { status: code, body } = await api.ask("GET", `/api/jobs/${job.jobId}/result`);
      expect(code).to.equal(409);
      expect(body).to.include({ code: "job-not-completed", currentStatus: status });
    });
  }

  it("is none of a job that makes no file, nor of another tenant's, nor of one that never was", async () => {
    const mailing = newJob();
    await happen(api.log, mailing, [jobCreated(), jobStarted(), jobCompleted()]);
    const acmes = newJob("acme");
    await happen(api.log, acmes, [report]);
    const codes: unknown[] = [];
    for (const job of [mailing, acmes, newJob(), { jobId: "nonsense" }]) {
      const { status, body } = await api.ask("GET", `/api/jobs/${job.jobId}/result`);
      codes.push([status, body.code]);
    }
    const never = [404, "job-not-found"];
    expect(codes).to.deep.equal([[404, "result-not-found"], never, never, never]);
  });

  it("is gone once it was erased", async () => {
    const job = await reportOf([Buffer.from("a"), Buffer.from("b")]);
    await results.erase({ ...job, run: 1 }, 1);
    const { status, body } = await api.ask("GET", `/api/jobs/${job.jobId}/result`);
    expect([status, body.code]).to.deep.equal([410, "result-erased"]);
  });

  it("breaks off, and does not just end, where a piece is lost", async () => {
    const job = await reportOf([randomBytes(50_000), Buffer.from("b"), Buffer.from("c")]);
    await results.erase({ ...job, run: 1 }, 1);
    const answered = await download(job);
    expect(answered.status).to.equal(200);
    expect(await answered.text().catch(() => "broke off")).to.equal("broke off");
  });

  it("is read no faster than its client takes it, and no further once it has gone", async () => {
    const pieces = Array.from({ length: 100 }, () => randomBytes(900_000));
    const job = await reportOf(pieces);
    read = 0;
    const request = get(`${api.url}/api/jobs/${job.jobId}/result`);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    await once(answer, "readable");
    // What the client does not take stays in the system's buffers, which hold a few pieces. Meanwhile others are served.
    for (let asked = 0; asked < 100; asked += 1) await api.ask("GET", `/api/jobs/${newJob().jobId}`);
    const readByThen = read;
    expect(readByThen).to.be.within(1, 40);
    request.destroy();
    for (let asked = 0; asked < 20; asked += 1) await api.ask("GET", `/api/jobs/${newJob().jobId}`);
    expect(read).to.be.at.most(readByThen + 2);
  });

  it("of events needs the scope that events need", async () => {
    const access: Access = {
      admit: async () => {
        const limits = { senders: null, dailyRecipients: null, approvalAbove: null };
        return { outcome: "admitted", caller: { tenant: "default", actor: "key:1", limits }, rate: null };
      },
      isStillAdmitted: (_, scope) => scope === "jobs:read",
    };
    const strict = await startApi({ log: api.log, results, access });
    const ofEvents = await reportOf([Buffer.from("a")], { of: "events" });
    const ofJobs = await reportOf([Buffer.from("a")], { of: "jobs" });
    const refused = await strict.ask("GET", `/api/jobs/${ofEvents.jobId}/result`);
    expect(refused.status).to.equal(403);
    expect(refused.body).to.include({ code: "scope-missing", scope: "events:read" });
    expect((await strict.ask("GET", `/api/jobs/${ofJobs.jobId}/result`)).status).to.equal(200);
    await strict.close();
  });

  it("has a link in its job, which says how many rows are written", async () => {
    const job = newJob();
    await happen(api.log, job, [report, jobStarted(), resultStored({ rows: 1200, sha256: null })]);
    const { body } = await api.ask("GET", `/api/jobs/${job.jobId}`);
    expect(body.links.result).to.equal(`/api/jobs/${job.jobId}/result`);
    expect(body.progress).to.include({ total: 1200, sent: 1200, pending: 0, failed: 0 });
  });
});
