import { expect } from "chai";
import { deadLettersProjector } from "../../../projections/dead-letters/projector.ts";
import { createDeadLetterQueries, type DeadLetterList } from "../../../projections/dead-letters/queries.ts";
import { createDatabase } from "../../../src/database/database.ts";
import type { DeadLetterRecord } from "../../../src/domain/job/dead-letter.ts";
import type { EventOfJob } from "../../../src/domain/job/job-view.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { deadLetterFromLog } from "../../../src/history/dead-letter-from-log.ts";
import * as example from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { cancelled, completed, failed, processing, retrying } from "../../support/histories.ts";
import { createMemoryContentStore } from "../../support/memory/memory-content-store.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../support/read-side.ts";

const { deadLetterIgnored, jobCompleted, jobContentErased, jobFailed, jobRequeued, jobRetried, jobStarted } = example;
const { later, now } = example;
const secondRun = [jobRetried({ reason: "try again" }, later), jobStarted({ run: 2 })];

describe("the dead letters of a job", () => {
  let side: ReadSide;

  before(async () => {
    side = await openReadSide();
    side.startProjector(deadLettersProjector);
  });
  after(() => side.cleanUp());

  const everything = { status: null, code: null, cause: null, failedBefore: null, cursor: null, limit: 100 };
  const lettersOf = async (job: JobRef): Promise<readonly DeadLetterRecord[]> => {
    await side.caughtUp("dead-letters");
    const { letters, readSequence } = await createDeadLetterQueries(side.db).list("default", everything);
    expect(readSequence).to.equal((await side.log.state()).lastSequence);
    return letters.filter(({ jobId }) => jobId === job.jobId);
  };
  const lettersAfter = async (...events: readonly EventOfJob[]): Promise<readonly DeadLetterRecord[]> => {
    const job = newJob();
    await side.storeContent(job);
    await side.happens(job, ...events);
    return await lettersOf(job);
  };

  it("are found in pages that look through some of them, where no index has those that are asked for", async () => {
    const tenant = "acme";
    const jobs = Array.from({ length: 7 }, () => newJob(tenant));
    for (const [index, job] of jobs.entries()) {
      const error = { code: index % 3 === 0 ? "expired" : "too-many-failures", message: "refused" };
      await side.happens(job, ...processing(), jobFailed({ error }));
    }
    await side.caughtUp("dead-letters");
    const queries = createDeadLetterQueries(side.db, 2);
    for (const status of ["open", null] as const) {
      const found: string[] = [];
      let [cursor, answers]: [number | null, number] = [null, 0];
      do {
        const options = { ...everything, status, code: "expired", cursor, limit: 20 };
        const { letters, nextCursor }: DeadLetterList = await queries.list(tenant, options);
        found.push(...letters.map(({ jobId }) => jobId));
        [cursor, answers] = [nextCursor === null ? null : Number(nextCursor), answers + 1];
      } while (cursor !== null);
      expect(found).to.deep.equal([6, 3, 0].map((index) => jobs[index]?.jobId));
      expect(answers).to.equal(4);
    }
    const counted = { status: "open", code: "expired", cause: null } as const;
    expect(await queries.count(tenant, { ...counted, failedBefore: "2026-12-31T00:00:00.000Z" })).to.equal(3);
    // All of them have failed since.
    expect(await queries.count(tenant, { ...counted, failedBefore: "2026-01-01T00:00:00.000Z" })).to.equal(null);
    const all = createDeadLetterQueries(side.db);
    expect(await all.count(tenant, { ...counted, failedBefore: "2026-01-01T00:00:00.000Z" })).to.equal(0);
  });

  it("are counted by their cause without a look at each, also once they are decided about", async () => {
    const tenant = "many";
    const jobs = Array.from({ length: 60 }, () => newJob(tenant));
    for (const job of jobs) await side.happens(job, ...failed());
    for (const job of jobs.slice(0, 10)) await side.happens(job, deadLetterIgnored());
    await side.happens(jobs[20] as JobRef, jobContentErased({ isRetired: true }));
    await side.caughtUp("dead-letters");
    const db = createDatabase(side.url, { connections: 1 });
    const { causes, count } = createDeadLetterQueries(db);
    const rowsRead = async (): Promise<number> => {
      const [rows] = (await db.raw("SHOW SESSION STATUS LIKE 'Handler_read%'")) as [{ Value: string }[]];
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    await causes(tenant, "open", 10);
    const before = await rowsRead();
    const letters = async (status: "open" | "ignored" | null) =>
      (await causes(tenant, status, 10)).causes.map((cause) => [cause.letters, cause.newestFailedAt]);
    const expected = { open: 49, ignored: 10 };
    expect(await letters("open")).to.deep.equal([[expected.open, now]]);
    expect(await letters(null)).to.deep.equal([[expected.open + expected.ignored, now]]);
    expect(await count(tenant, { status: "open", code: null, cause: null, failedBefore: later })).to.equal(49);
    expect((await rowsRead()) - before).to.be.lessThan(49);
    expect(await letters("ignored")).to.deep.equal([[expected.ignored, now]]);
    await db.destroy();
  });

  it("are none while it has not failed", async () => {
    for (const history of [completed(), cancelled(), retrying()]) {
      expect(await lettersAfter(...history)).to.deep.equal([]);
    }
  });

  it("are one for each run that failed: what was retried by hand is closed", async () => {
    const letters = await lettersAfter(...failed(), ...secondRun, jobFailed({ run: 2 }));
    expect(letters.map(({ run, status, reason, decidedAt }) => ({ run, status, reason, decidedAt }))).to.deep.equal([
      { run: 2, status: "open", reason: null, decidedAt: null },
      { run: 1, status: "retried", reason: "try again", decidedAt: later },
    ]);
    expect(letters.map(({ name, subject }) => [name, subject])).to.deep.equal([
      ["November", "Your invoice"],
      ["November", "Your invoice"],
    ]);
  });

  it("are one of the run that failed after a job had completed without some of its recipients", async () => {
    for (const left of [{ failed: 1 }, { unknown: 1 }]) {
      const job = newJob();
      await side.storeContent(job);
      await side.happens(job, ...processing(), jobCompleted({ counts: example.counts({ sent: 2, ...left }) }));
      await side.happens(job, ...secondRun, jobFailed({ run: 2 }));
      const letters = await lettersOf(job);
      expect(letters).to.deep.equal([(await deadLetterFromLog(side.log, side.contentStore, job, 2))?.letter]);
      expect(letters[0]).to.include({ run: 2, status: "open" });
    }
  });

  it("are all closed when a retry by hand succeeded", async () => {
    const letters = await lettersAfter(...failed(), ...secondRun, jobCompleted({ run: 2 }));
    expect(letters.map(({ status }) => status)).to.deep.equal(["retried"]);
  });

  it("hold the number of recipients when no mail was sent, as the job expired", async () => {
    const expired = jobFailed({ error: { code: "expired", message: "too late" }, counts: null });
    const [letter] = await lettersAfter(example.jobCreated({ total: 7 }), expired);
    expect(letter?.error.code).to.equal("expired");
    expect(letter?.progress).to.include({ total: 7, pending: 7, sent: 0 });
  });

  it("have no name and no subject once the content was erased", async () => {
    const job = newJob();
    await side.happens(job, ...failed());
    expect((await lettersOf(job))[0]).to.include({ name: null, subject: null, status: "open" });
  });

  it("are as the log has them, whatever was decided about them", async () => {
    for (const decisions of [
      [],
      [deadLetterIgnored({}, later)],
      [jobRequeued({ reason: "it is back" }, later)],
      [deadLetterIgnored(), jobRequeued({}, later)],
      secondRun,
    ]) {
      const job = newJob();
      await side.storeContent(job);
      await side.happens(job, ...failed(), ...decisions);
      const [letter] = await lettersOf(job);
      expect(letter).to.deep.equal((await deadLetterFromLog(side.log, side.contentStore, job, 1))?.letter);
    }
  });

  it("have the words of the mail servers, and are counted by their cause", async () => {
    const tenant = "words";
    const said = (message: string) =>
      example.recipientFailed({ error: { code: "rejected", message, replyCode: 554, statusCode: null } });
    const fail = async (message: string): Promise<JobRef> => {
      const job = newJob(tenant);
      await side.happens(job, ...failed().slice(0, 2), said(message), ...failed().slice(2));
      return job;
    };
    const first = await fail("554 5.7.1 refused, id 4fb4d7f45d1cf");
    await fail("554 5.7.1 refused, id 9c1d7aa45d1ee");
    await fail("550 5.1.1 no such user");
    await side.caughtUp("dead-letters");
    const queries = createDeadLetterQueries(side.db);
    const { code } = example.tooManyFailures;
    const { causes } = await queries.causes(tenant, "open", 10);
    expect(causes).to.deep.equal([
      { code, cause: "554 5.7.1 refused, id …", letters: 2, newestFailedAt: example.now },
      { code, cause: "550 5.1.1 no such user", letters: 1, newestFailedAt: example.now },
    ]);
    const ofCause = { ...everything, status: "open" as const, code, cause: "554 5.7.1 refused, id …" };
    expect(await queries.count(tenant, { ...ofCause, failedBefore: later })).to.equal(2);
    expect(await queries.count(tenant, { ...ofCause, failedBefore: example.now })).to.equal(0);
    const { letters } = await queries.list(tenant, ofCause);
    expect(letters.map(({ reply }) => reply)).to.include("554 5.7.1 refused, id 4fb4d7f45d1cf");
    const letter = letters.find(({ jobId }) => jobId === first.jobId);
    expect(letter).to.deep.equal((await deadLetterFromLog(side.log, side.contentStore, first, 1))?.letter);
  });

  it("are another tenant's where the job is", async () => {
    await side.happens(newJob("other"), ...failed());
    await side.caughtUp("dead-letters");
    const { letters } = await createDeadLetterQueries(side.db).list("other", everything);
    expect(letters).to.have.length(1);
  });

  it("forget jobs that cannot fail any more", async () => {
    const job = newJob();
    await side.happens(job, ...failed());
    await side.happens(newJob(), ...completed());
    await side.happens(newJob(), ...cancelled());
    await side.caughtUp("dead-letters");
    const known: { job_id: string }[] = await side.db("dead_letters_jobs").select("job_id");
    const ids = known.map(({ job_id }) => job_id);
    expect(ids).to.include(job.jobId);
    expect(new Set(ids).size).to.equal(ids.length);
    await side.happens(job, ...secondRun, jobCompleted({ run: 2 }));
    await side.caughtUp("dead-letters");
    expect(await side.db("dead_letters_jobs").where({ job_id: job.jobId })).to.deep.equal([]);
  });

  it("are the same after a rebuild", async () => {
    const live = await tablesOf(side.db, deadLettersProjector);
    await side.rebuild([deadLettersProjector]);
    expect(await tablesOf(side.db, deadLettersProjector)).to.deep.equal(live);
    expect(live["dead_letters"]).to.have.length.greaterThan(8);
  });
});

describe("what the log says of a dead letter", () => {
  it("is nothing where there is no such run or no such job", async () => {
    const side = await openReadSide();
    const job = newJob();
    await side.happens(job, ...failed());
    const store = createMemoryContentStore();
    expect(await deadLetterFromLog(side.log, store, job, 2)).to.equal(null);
    expect(await deadLetterFromLog(side.log, store, newJob(), 1)).to.equal(null);
    await side.cleanUp();
  });
});
