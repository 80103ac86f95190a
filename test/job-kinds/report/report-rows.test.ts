import { expect } from "chai";
import { parse } from "csv-parse/sync";
import { everyJob } from "../../../projections/jobs/list-options.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import { createLogQueries } from "../../../projections/jobs/recipients/log-queries.ts";
import type { JobRecord } from "../../../src/domain/job/job-record.ts";
import type { JobRef, StoredEvent } from "../../../src/event-log/event-log.ts";
import type { ReportRequest } from "../../../src/job-kinds/report/report-source.ts";
import { jobCreated, recipientFailed, recipientSent } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { insertJobs, insertLogLines } from "../../support/report-rows.ts";
import { begin, openReportSide, type ReportSide } from "./report-side.ts";

const objectsIn = (file: string): readonly object[] =>
  file === ""
    ? []
    : file
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));

/** As another program reads it, by the names in its first line. */
const recordsIn = (file: string): readonly Readonly<Record<string, string>>[] =>
  parse(file, { columns: true, record_delimiter: "\r\n" });

/** More than two pages of each. */
const [jobs, lines] = [2500, 2500];
/** Three rows in each millisecond from the beginning of 2020. */
const first = Date.parse("2020-01-01T00:00:00.000Z");
const at = (ms: number): string => new Date(first + ms).toISOString();

describe("A report", function () {
  this.timeout(120_000);

  let side: ReportSide;
  let mailing: JobRef;
  let formula: JobRef;

  before(async () => {
    side = await openReportSide();
    const { readSide } = side;
    readSide.startProjectors();
    mailing = await readSide.mailing();
    formula = newJob();
    const subject = '=HYPERLINK("http://evil.example","x")';
    await readSide.storeContent(formula, { subject, name: "a,b\n", recipients: [{ email: "+evil@example.com" }] });
    const message = '@SUM(A1) said the server, "no"';
    const error = { code: "rejected", message, replyCode: 550, statusCode: null };
    await readSide.happens(formula, jobCreated({ total: 1 }), recipientFailed({ recipient: 0, error }));
    const foreign = newJob("acme");
    await readSide.storeContent(foreign);
    await readSide.happens(foreign, jobCreated(), recipientSent());
    await readSide.caughtUp();
    await insertJobs(readSide.db, "default", jobs);
    await insertLogLines(readSide.db, "default", lines);
    await insertLogLines(readSide.db, "acme", 5);
  });
  after(() => side.cleanUp());

  async function make(request: Partial<ReportRequest>, tenant?: string): Promise<string> {
    const job = await side.createReport(request, tenant);
    const end = await side.attempt(job, { chunkBytes: 50_000 });
    expect(end).to.include({ kind: "completed" });
    return await side.file(job);
  }

  async function allJobs(): Promise<readonly JobRecord[]> {
    const { list } = createJobQueries(side.readSide.db);
    const found: JobRecord[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await list("default", { ...everyJob, order: "asc", cursor: cursor === "" ? null : cursor });
      found.push(...page.jobs);
      cursor = page.nextCursor;
    }
    return found;
  }

  const isMailing = ({ type }: { readonly type?: string }): boolean => type === "email.send";

  it("of jobs holds every job of the tenant as the list has it, in the order of creation", async () => {
    const rows = objectsIn(await make({ of: "jobs" })) as JobRecord[];
    const expected = (await allJobs()).filter(isMailing);
    expect(expected).to.have.lengthOf(jobs + Math.ceil(lines / 1000) + 2);
    expect(rows.filter(isMailing)).to.deep.equal(JSON.parse(JSON.stringify(expected)));
  });

  it("of jobs holds itself, as it is when it is read", async () => {
    const rows = objectsIn(await make({ of: "jobs", from: at(86_400_000) })) as JobRecord[];
    expect(rows.at(-1)).to.include({ type: "report.export", status: "processing", subject: "Your invoice" });
  });

  it("of jobs holds what was created before it, also by a process whose clock is ahead", async () => {
    const [early, late] = [newJob("shop"), newJob("shop")];
    const ahead = new Date(Date.now() + 60_000).toISOString();
    await side.readSide.storeContent(early);
    await side.readSide.happens(early, jobCreated({}, ahead));
    const job = await side.createReport({ of: "jobs" }, "shop");
    const began = await begin(side.readSide.log, job, { run: 1, attempt: 1, worker: "worker-1" });
    await side.readSide.storeContent(late);
    await side.readSide.happens(late, jobCreated({}, "2020-01-01T00:00:00.000Z"));
    await side.readSide.caughtUp();
    await side.attempt(job, { leaseSequence: began });
    const rows = objectsIn(await side.file(job)) as JobRecord[];
    expect(rows.map(({ id }) => id)).to.have.members([early.jobId, job.jobId]);
  });

  it("of jobs as CSV says the same in a line of names and one for each job", async () => {
    const records = recordsIn(await make({ of: "jobs", format: "csv", from: at(86_400_000) })).filter(isMailing);
    const [one] = records.filter(({ id }) => id === mailing.jobId);
    expect(one).to.include({ status: "failed", subject: "Your invoice", total: "3", sent: "1", failed: "2" });
    expect(one).to.include({ scheduledAt: "", metadata: '{"campaign":"11"}', errorCode: "too-many-failures" });
    const [other] = records.filter(({ id }) => id === formula.jobId);
    expect(other).to.include({ subject: `'=HYPERLINK("http://evil.example","x")`, name: "a,b\n" });
  });

  it("of logs holds every line of the tenant's, in the order of time", async () => {
    const rows = objectsIn(await make({ of: "logs" })) as { id: string; jobId: string; createdAt: string }[];
    expect(rows).to.have.lengthOf(lines + 4);
    expect(rows.map(({ createdAt }) => createdAt)).to.deep.equal(rows.map(({ createdAt }) => createdAt).sort());
    const { list } = createLogQueries(side.readSide.db);
    for (const jobId of new Set(rows.map((row) => row.jobId))) {
      const options = { status: null, email: null, after: (-lines - 1) * 64, limit: 5000 };
      const { entries } = await list({ tenant: "default", jobId }, options);
      const ofJob = rows.filter((row) => row.jobId === jobId);
      expect(ofJob).to.deep.equal(entries.map((entry) => ({ jobId, ...entry })));
    }
  });

  it("of logs as CSV disarms what came from outside", async () => {
    const records = recordsIn(await make({ of: "logs", format: "csv", from: at(86_400_000) }));
    const [line] = records.filter(({ jobId }) => jobId === formula.jobId);
    expect(line).to.include({ email: "'+evil@example.com", errorMessage: `'@SUM(A1) said the server, "no"` });
  });

  it("of events is the log itself, without those of others, up to where the report began", async () => {
    const job = await side.createReport({ of: "events" });
    await side.attempt(job, { chunkBytes: 500 });
    const log = await everything();
    const expected = log.slice(
      0,
      log.findIndex(({ event, jobId }) => jobId === job.jobId && event.type === "JobStarted"),
    );
    expect(objectsIn(await side.file(job))).to.deep.equal(
      expected.map(({ sequence, index, event: { type, at: time, data }, jobId, tenant, actor }) => ({
        sequence,
        index,
        type,
        time,
        jobId,
        tenant,
        actor,
        data,
      })),
    );
    expect((await side.chunks(job)).length).to.be.greaterThan(5);
  });

  it("of events as CSV has their data as JSON", async () => {
    const [created] = recordsIn(await make({ of: "events", format: "csv" }));
    expect(created).to.include({ type: "JobCreated", tenant: "default", sequence: "1" });
    expect(JSON.parse(created?.["data"] ?? "")).to.deep.equal(jobCreated().data);
  });

  for (const of of ["jobs", "logs"] as const) {
    it(`of ${of} holds what is not before from and before to`, async () => {
      const rows = objectsIn(await make({ of, from: at(10), to: at(400) })) as { createdAt: string }[];
      expect(rows).to.have.lengthOf(390 * 3);
      expect(rows[0]?.createdAt).to.equal(at(10));
      expect(rows.at(-1)?.createdAt).to.equal(at(399));
    });
  }

  it("of events holds what is not before from and before to", async () => {
    const time = (await everything())[0]?.event.at ?? "";
    const after = new Date(Date.parse(time) + 1).toISOString();
    const ofTime = objectsIn(await make({ of: "events", from: time, to: after }));
    expect(ofTime.length).to.be.greaterThan(0);
    expect(new Set(ofTime.map((row) => (row as { time: string }).time))).to.deep.equal(new Set([time]));
    expect(objectsIn(await make({ of: "events", to: time }))).to.deep.equal([]);
  });

  it("of a time in which nothing was is empty, but for the names of the columns", async () => {
    const span = { from: "2001-01-01T00:00:00.000Z", to: "2001-01-02T00:00:00.000Z" };
    expect(await make({ of: "logs", format: "ndjson", ...span })).to.equal("");
    const csv = await make({ of: "logs", format: "csv", ...span });
    expect(csv).to.match(/^id,jobId,recipient,email,[a-zA-Z,]+\r\n$/);
  });

  it("of another tenant holds theirs and nothing of ours", async () => {
    for (const of of ["jobs", "logs", "events"] as const) {
      const file = await make({ of }, "acme");
      expect(objectsIn(file)).to.have.length.greaterThan(0);
      expect(file).not.to.include("evil");
      expect(file).not.to.include(mailing.jobId);
    }
  });

  async function everything(): Promise<readonly StoredEvent[]> {
    const { log } = side.readSide;
    const { lastSequence } = await log.state();
    const signal = new AbortController().signal;
    for await (const batch of log.follow({ afterSequence: 0, maxEvents: lastSequence, signal })) {
      return (batch as readonly StoredEvent[]).filter(({ tenant }) => tenant === "default");
    }
    return [];
  }
});
