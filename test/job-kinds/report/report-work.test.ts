import { createHash } from "node:crypto";
import { expect } from "chai";
import { eraseResult } from "../../../src/content/stored-content.ts";
import { outcomesOf, progressOf } from "../../../src/domain/job/job-view.ts";
import type { ResultEvent } from "../../../src/domain/result/events.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { caused, jobCancelled, jobContentErased, jobPaused, recipientSent } from "../../support/examples.ts";
import { insertLogLines } from "../../support/report-rows.ts";
import { begin, openReportSide, type ReportSide, watched } from "./report-side.ts";

/** Some dozens of pieces. */
const lines = 500;

const linesIn = (file: string): readonly { readonly id: string }[] =>
  file
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("A report that is written", () => {
  let side: ReportSide;
  let whole: string;

  before(async () => {
    side = await openReportSide();
    side.readSide.startProjectors();
    await side.readSide.mailing();
    await insertLogLines(side.readSide.db, "default", lines);
    await insertLogLines(side.readSide.db, "acme", 10);
    const job = await side.createReport({});
    await side.attempt(job, { chunkBytes: 1_000_000 });
    whole = await side.file(job);
  });
  after(() => side.cleanUp());

  const toldOf = async (job: JobRef): Promise<readonly ResultEvent["data"][]> =>
    (await side.readSide.log.readHistory(job)).flatMap(({ event }) =>
      event.type === "ResultStored" ? [event.data] : [],
    );

  /** Both hold: no row twice, and none missing. */
  async function expectWhole(job: JobRef, run = 1): Promise<void> {
    const file = await side.file(job, run);
    expect(file).to.equal(whole);
    const chunks = await side.chunks(job, run);
    expect(chunks.map(({ isLast }) => isLast).indexOf(true)).to.equal(chunks.length - 1);
    const told = (await toldOf(job)).filter((data) => data.run === run);
    const sha256 = createHash("sha256").update(file).digest("hex");
    const [rows, bytes] = [lines + 3, Buffer.byteLength(file)];
    const [end, ...more] = told.filter((data) => data.sha256 !== null);
    expect(more).to.deep.equal([]);
    expect(end).to.include({ run, of: "logs", format: "ndjson", chunks: chunks.length, rows, bytes, sha256 });
    expect(told.filter((data) => data.rows > rows)).to.deep.equal([]);
  }

  it("holds each line of the tenant once, in the order of time, and none of another", () => {
    const ids = linesIn(whole).map(({ id }) => id);
    expect(ids).to.have.lengthOf(lines + 3);
    expect(new Set(ids).size).to.equal(lines + 3);
    expect(ids.slice(0, 3)).to.deep.equal([`${-lines}.0`, `${1 - lines}.0`, `${2 - lines}.0`]);
  });

  it("comes in pieces that end between two rows, and says how far it is", async () => {
    const job = await side.createReport({});
    const end = await side.attempt(job);
    expect(end).to.deep.include({ kind: "completed" });
    expect((await side.chunks(job)).length).to.be.greaterThan(50);
    for (const { bytes, rows } of await side.chunks(job))
      expect(linesIn(Buffer.from(bytes).toString())).to.have.lengthOf(rows);
    await expectWhole(job);
    const view = await side.view(job);
    expect(progressOf(view)).to.include({ total: lines + 3, sent: lines + 3, pending: 0 });
    expect(end).to.have.property("counts").that.deep.equals(outcomesOf(view));
  });

  it("goes on behind the last piece where its process was stopped", async () => {
    const job = await side.createReport({});
    const stopping = new AbortController();
    const results = watched(side.results, (index) => (index === 7 ? stopping.abort() : undefined));
    expect(await side.attempt(job, { results, stopping: stopping.signal })).to.deep.equal({ kind: "interrupted" });
    const before = (await side.chunks(job)).length;
    expect(before).to.equal(8);
    expect(progressOf(await side.view(job)).sent).to.be.greaterThan(0);
    const stored: number[] = [];
    const again = watched(side.results, (index) => void stored.push(index));
    expect(await side.attempt(job, { attempt: 2, worker: "worker-2", results: again })).to.include({
      kind: "completed",
    });
    expect(stored[0]).to.equal(before);
    await expectWhole(job);
  });

  it("is recorded as complete by the worker that finds it so, after its own worker died", async () => {
    const job = await side.createReport({});
    await side.attempt(job);
    expect(await side.attempt(job, { attempt: 2, worker: "worker-2" })).to.include({ kind: "completed" });
    await expectWhole(job);
  });

  for (const [name, decision] of [
    ["cancelled", jobCancelled()],
    ["paused", jobPaused()],
  ] as const) {
    it(`stops between two pieces when its job is ${name}`, async () => {
      const job = await side.createReport({});
      const results = watched(side.results, async (index) => {
        if (index !== 5) return;
        await side.readSide.log.append(
          job,
          [caused(name + job.jobId, decision)],
          await side.readSide.log.lastDecision(job),
        );
      });
      expect(await side.attempt(job, { results })).to.deep.equal({ kind: "lease-lost" });
      expect(await side.chunks(job)).to.have.lengthOf(6);
    });
  }

  it("keeps no piece that its worker stores once the content of the job is erased", async () => {
    const job = await side.createReport({});
    const { log } = side.readSide;
    const results = watched(side.results, async (index) => {
      if (index !== 5) return;
      for (const decision of [jobCancelled(), jobContentErased()])
        await log.append(job, [caused(decision.type + job.jobId, decision)], await log.lastDecision(job));
      await eraseResult(side.results, job);
    });
    expect(await side.attempt(job, { results })).to.deep.equal({ kind: "lease-lost" });
    expect(await side.results.piecesOf(job)).to.deep.equal([]);
  });

  it("goes on after a pause as if there had been none", async () => {
    const job = await side.createReport({});
    const { log } = side.readSide;
    const results = watched(side.results, async (index) => {
      if (index === 5) await log.append(job, [caused(`p${job.jobId}`, jobPaused())], await log.lastDecision(job));
    });
    await side.attempt(job, { results });
    expect(await side.attempt(job, { worker: "worker-2" })).to.include({ kind: "completed" });
    await expectWhole(job);
  });

  it("has each row once where two workers believe that it is theirs, whichever stores which piece", async () => {
    const job = await side.createReport({});
    const leaseSequence = await begin(side.readSide.log, job, { run: 1, attempt: 1, worker: "worker-1" });
    // Pieces of another size end elsewhere: each finds pieces of the other that it would not have made.
    const ends = await Promise.all(
      [700, 1300, 2100].map((chunkBytes) => side.attempt(job, { chunkBytes, leaseSequence })),
    );
    expect(ends.map(({ kind }) => kind)).to.deep.equal(["completed", "completed", "completed"]);
    await expectWhole(job);
  });

  it("begins anew with a retry by hand, in another file", async () => {
    const job = await side.createReport({});
    const stopping = new AbortController();
    const results = watched(side.results, (index) => (index === 3 ? stopping.abort() : undefined));
    await side.attempt(job, { results, stopping: stopping.signal });
    expect(await side.attempt(job, { run: 2, worker: "worker-2" })).to.include({ kind: "completed" });
    await expectWhole(job, 2);
    expect(await side.chunks(job, 1)).to.have.lengthOf(4);
  });

  it("holds in its last attempt what it held in its first: what came since is not in it", async () => {
    const job = await side.createReport({});
    const stopping = new AbortController();
    const results = watched(side.results, (index) => (index === 3 ? stopping.abort() : undefined));
    await side.attempt(job, { results, stopping: stopping.signal });
    const other = await side.createReport({});
    await side.readSide.happens(other, recipientSent({}, new Date().toISOString()));
    await side.readSide.caughtUp("jobs");
    expect(await side.attempt(job, { attempt: 2, worker: "worker-2" })).to.include({ kind: "completed" });
    await expectWhole(job);
  });

  it("fails for good where a row fits into no piece", async () => {
    const job = await side.createReport({});
    const results = { ...side.results, maxBytes: 100 };
    const end = await side.attempt(job, { results });
    expect(end).to.include({ kind: "failed" }).and.to.have.nested.property("error.code", "row-too-large");
  });
});
