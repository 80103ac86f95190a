import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { counts, jobCompleted, later, now, recipientFailed, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { cancelled, completed, failed, paused, pending, processing, scheduled } from "../support/histories.ts";
import { decide, draftMailing, importInto, people } from "../support/mailings.ts";
import { jobsWith } from "../support/read-side.ts";
import { startApi } from "../support/running-api.ts";

const reached = [...processing(), ...[0, 1, 2].map((recipient) => recipientSent({ recipient })), jobCompleted()];

describe("Many jobs, changed in one call", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
    service.readSide.startProjector(jobsProjector);
  });
  afterEach(() => service.close());

  const happens = (...histories: Parameters<typeof jobsWith>[1]) => jobsWith(service.readSide, histories);
  // Examples happen at `now`, and so before this.
  const bulk = (body: object) => service.api.ask("POST", "/api/jobs/bulk", { body: { asOf: later, ...body } });
  const idsOf = (changed: readonly { id: string }[]) => changed.map(({ id }) => id).sort();
  const typesOf = async (job: JobRef | undefined) =>
    (await service.readSide.log.readDecisions(job as JobRef)).map(({ event }) => event.type);

  /** Twelve are stored, of which the last gets no answer that says so, and then the log is gone. */
  const dyingLog = (): EventLog => {
    const { append } = service.readSide.log;
    let appends = 0;
    const cut: EventLog["append"] = async (...given) => {
      appends += 1;
      const isLast = appends === 12;
      if (appends > 12) throw new Unavailable("gone");
      const sequence = await append(...given);
      if (isLast) throw new Unavailable("no answer");
      return sequence;
    };
    return { ...service.readSide.log, append: cut };
  };

  it("are counted by a dry run, which changes nothing: those whose status allows the action", async () => {
    const [waiting] = await happens(pending(), processing(), scheduled(), paused(), reached, failed(), cancelled());
    for (const [action, matched] of [
      ["cancel", 4],
      ["pause", 3],
      ["resume", 1],
      ["retry", 1],
    ] as const) {
      const { status, body } = await bulk({ action, filter: { createdBefore: later }, dryRun: true });
      expect(status).to.equal(200);
      const nothing = { changed: [], unchanged: 0, skipped: [], nextCursor: null };
      expect({ action, ...body }).to.deep.equal({ action, asOf: later, matched, ...nothing });
    }
    expect(await typesOf(waiting)).to.deep.equal(["JobCreated"]);
  });

  it("are those that match, of which each is decided about by itself", async () => {
    const jobs = await happens(pending(), scheduled(), processing(), completed());
    const filter = { status: ["queued", "scheduled"] };
    const { status, body } = await bulk({ action: "cancel", filter, expected: 2, reason: "a mistake" });
    expect(status).to.equal(200);
    expect(body.matched).to.equal(2);
    expect(idsOf(body.changed)).to.deep.equal(
      jobs
        .slice(0, 2)
        .map(({ jobId }) => jobId)
        .sort(),
    );
    const last = (await service.readSide.log.readDecisions(jobs[0] as JobRef)).at(-1);
    expect(last?.event).to.deep.equal({ type: "JobCancelled", at: now, data: { reason: "a mistake" } });
    expect(await typesOf(jobs[2])).to.deep.equal(["JobCreated", "JobStarted"]);
  });

  it("are nobody else's", async () => {
    const job = newJob("other");
    await service.readSide.happens(job, ...pending());
    await service.readSide.caughtUp("jobs");
    const { body } = await bulk({ action: "cancel", jobs: [job.jobId] });
    expect(body.skipped).to.deep.equal([{ id: job.jobId, code: "job-not-found" }]);
    expect((await bulk({ action: "cancel", filter: { status: ["queued"] }, dryRun: true })).body.matched).to.equal(0);
  });

  it("are those of a list, and each that does not allow it is named with the reason", async () => {
    const jobs = await happens(pending(), paused(), completed());
    const ids = jobs.map(({ jobId }) => jobId);
    const { body } = await bulk({ action: "pause", jobs: ids });
    expect(idsOf(body.changed)).to.deep.equal([ids[0]]);
    expect(body.unchanged).to.equal(1);
    expect(body.skipped).to.deep.equal([{ id: ids[2], code: "job-has-ended" }]);
  });

  it("can be taken back: what was paused is resumed", async () => {
    const jobs = await happens(pending(), processing());
    const { body } = await bulk({ action: "pause", jobs: jobs.map(({ jobId }) => jobId) });
    const undo = await bulk({ action: "resume", jobs: idsOf(body.changed) });
    expect(undo.body.changed).to.have.length(2);
    expect((await typesOf(jobs[0])).slice(-2)).to.deep.equal(["JobPaused", "JobResumed"]);
  });

  it("are retried, but for those that completed and have reached everybody", async () => {
    const leftOut = jobCompleted({ counts: counts({ sent: 1, pending: 2 }) });
    const toSome = [...processing(), recipientSent({ recipient: 0 }), leftOut];
    const [whole, half, some, dead] = await happens(reached, processing(), toSome, failed());
    await service.readSide.happens(
      half as JobRef,
      recipientFailed(),
      jobCompleted({ counts: counts({ sent: 2, failed: 1 }) }),
    );
    await service.readSide.caughtUp("jobs");
    const { body } = await bulk({ action: "retry", filter: { createdBefore: later }, expected: 3 });
    expect(idsOf(body.changed)).to.deep.equal([half, some, dead].map((job) => String(job?.jobId)).sort());
    expect(await typesOf(whole)).not.to.include("JobRetried");
  });

  it("are not retried where they are parts of a mailing that was cancelled", async () => {
    const [going, over] = [await draftMailing(service.readSide), await draftMailing(service.readSide)];
    await decide(service.readSide, over, { type: "CancelMailing", at: now, reason: null });
    const jobs = await happens(failed({ mailingId: going.jobId }), failed({ mailingId: over.jobId }));
    const { body } = await bulk({ action: "retry", filter: { status: ["failed"] }, expected: 2 });
    expect(idsOf(body.changed)).to.deep.equal([jobs[0]?.jobId]);
    expect(body.skipped).to.deep.equal([{ id: jobs[1]?.jobId, code: "mailing-has-ended" }]);
    expect((await typesOf(jobs[1])).at(-1)).to.equal("JobFailed");
  });

  it("are not resumed where they are parts of a mailing that is paused", async () => {
    const [going, still] = [await draftMailing(service.readSide), await draftMailing(service.readSide)];
    for (const mailing of [going, still]) {
      await importInto(service.readSide, mailing, people(1));
      await decide(service.readSide, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    }
    await decide(service.readSide, still, { type: "PauseMailing", at: now, reason: null });
    const jobs = await happens(paused({ mailingId: going.jobId }), paused({ mailingId: still.jobId }));
    const { body } = await bulk({ action: "resume", filter: { status: ["paused"] }, expected: 2 });
    expect(idsOf(body.changed)).to.deep.equal([jobs[0]?.jobId]);
    expect(body.skipped).to.deep.equal([{ id: jobs[1]?.jobId, code: "mailing-is-paused" }]);
    expect((await typesOf(jobs[1])).at(-1)).to.equal("JobPaused");
  });

  it("are not retried twice where the same call comes twice", async () => {
    const [job] = await happens(failed());
    const call = { action: "retry", jobs: [job?.jobId], asOf: now };
    expect((await bulk(call)).body.changed).to.have.length(1);
    // It fails again, later, before the call is repeated.
    await service.readSide.happens(
      job as JobRef,
      ...failed()
        .slice(1)
        .map((event) => again(event)),
    );
    expect((await bulk(call)).body.skipped).to.deep.equal([{ id: job?.jobId, code: "changed-since" }]);
    expect((await typesOf(job)).filter((type) => type === "JobRetried")).to.have.length(1);
  });

  it("are not touched where more match than were counted", async () => {
    const [job] = await happens(pending(), pending(), pending());
    const { status, body } = await bulk({ action: "cancel", filter: { status: ["queued"] }, expected: 2 });
    expect([status, body.code, body.matched, body.expected]).to.deep.equal([409, "more-than-expected", 3, 2]);
    expect(await typesOf(job)).to.deep.equal(["JobCreated"]);
  });

  it("that came after they were counted are left alone", async () => {
    await happens(pending());
    const call = { action: "cancel", filter: { status: ["queued"] }, expected: 5, asOf: now };
    expect((await bulk(call)).body).to.deep.include({ matched: 0, changed: [] });
  });

  it("are more than one call does: the same call goes on at its cursor", async () => {
    const jobs = await happens(...Array.from({ length: 500 }, () => pending()));
    const call = { action: "cancel", filter: { status: ["queued"] }, expected: 500 };
    let [done, cursor, calls] = [0, null as string | null, 0];
    do {
      const { body } = await bulk({ ...call, ...(cursor === null ? {} : { cursor }) });
      [done, cursor, calls] = [done + body.changed.length, body.nextCursor, calls + 1];
    } while (cursor !== null);
    expect(done).to.equal(500);
    expect(calls).to.be.greaterThan(1);
    for (const job of jobs) expect(await typesOf(job)).to.deep.equal(["JobCreated", "JobCancelled"]);
  });

  it("are each changed once and told once where the log goes away in the middle, with and without an answer", async () => {
    const jobs = await happens(...Array.from({ length: 30 }, () => pending()));
    const call = { action: "cancel", filter: { status: ["queued"] }, expected: 30, asOf: now };
    const dying = await startApiWithReadSide({ log: dyingLog() }, service.readSide);
    const broken = await dying.api.ask("POST", "/api/jobs/bulk", { body: { ...call, asOf: later } });
    expect(broken.status).to.equal(200);
    await dying.api.close();
    await service.readSide.caughtUp("jobs");
    const { status, body } = await bulk({ ...call, cursor: broken.body.nextCursor });
    expect([status, body.nextCursor, body.unchanged]).to.deep.equal([200, null, 0]);
    const told = idsOf([...broken.body.changed, ...body.changed]);
    expect(told).to.deep.equal(jobs.map(({ jobId }) => jobId).sort());
    for (const job of jobs) expect(await typesOf(job)).to.deep.equal(["JobCreated", "JobCancelled"]);
  });

  it("of a list are each told once where the log goes away in the middle, though the calls name no time", async () => {
    const jobs = await happens(...Array.from({ length: 30 }, () => pending()));
    const call = { action: "cancel", jobs: jobs.map(({ jobId }) => jobId) };
    const dying = await startApiWithReadSide({ log: dyingLog(), now: () => now }, service.readSide);
    const broken = await dying.api.ask("POST", "/api/jobs/bulk", { body: call });
    await dying.api.close();
    const whole = await startApiWithReadSide({ now: () => later }, service.readSide);
    const { body } = await whole.api.ask("POST", "/api/jobs/bulk", {
      body: { ...call, cursor: broken.body.nextCursor },
    });
    await whole.api.close();
    expect([body.asOf, body.nextCursor, body.unchanged, body.skipped]).to.deep.equal([now, null, 0, []]);
    const told = idsOf([...broken.body.changed, ...body.changed]);
    expect(told).to.deep.equal(jobs.map(({ jobId }) => jobId).sort());
  });

  for (const [name, body, pointer] of [
    ["neither a list nor a filter", { action: "cancel" }, ""],
    ["both", { action: "cancel", jobs: [newJob().jobId], filter: { q: "x" }, expected: 1 }, ""],
    ["a filter without a condition", { action: "cancel", filter: {}, expected: 1 }, "/filter"],
    ["a filter without the number that is expected", { action: "cancel", filter: { q: "x" } }, "/expected"],
    ["an empty list", { action: "cancel", jobs: [] }, "/jobs"],
    ["what is no id", { action: "cancel", jobs: ["x"] }, "/jobs/0"],
    ["no action that there is", { action: "erase", jobs: [newJob().jobId] }, "/action"],
    ["a scope for another action", { action: "cancel", scope: "unsent", jobs: [newJob().jobId] }, "/scope"],
    ["a kind that there is not", { action: "cancel", filter: { type: "fax.send" }, expected: 1 }, "/filter/type"],
    ["a cursor that is no place in the list", { action: "cancel", jobs: [newJob().jobId], cursor: "x" }, "/cursor"],
    [
      "a cursor of no time",
      { action: "cancel", jobs: [newJob().jobId], cursor: `at:${now.replace("-", "-9")}:1` },
      "/cursor",
    ],
    ["a cursor with what is no id", { action: "cancel", jobs: [newJob().jobId], cursor: "left:x:0" }, "/cursor"],
    ["a cursor of its own", { action: "cancel", filter: { q: "x" }, expected: 1, cursor: "x" }, "/cursor"],
  ] as const) {
    it(`are refused for ${name}`, async () => {
      const answered = await bulk(body);
      expect([answered.status, answered.body.code]).to.deep.equal([400, "validation-failed"]);
      expect(answered.body.errors.map((one: { pointer: string }) => one.pointer)).to.include(pointer);
    });
  }

  it("are not counted without end, where ten million have completed and few of them can be run again", async () => {
    let pages = 0;
    const jobs = {
      ...createJobQueries(service.readSide.db),
      list: async () => {
        pages += 1;
        return { readSequence: 0, jobs: [], total: null, nextCursor: String(pages) };
      },
    };
    const api = await startApi({ jobs });
    const body = { action: "retry", filter: { createdBefore: later }, dryRun: true };
    const { status, body: problem } = await api.ask("POST", "/api/jobs/bulk", { body });
    await api.close();
    expect({ status, pages }).to.deep.equal({ status: 400, pages: 100 });
    expect(problem.errors[0]).to.include({ pointer: "/filter" });
  });
});

/** The same in the next run, a minute later. */
const again = <Event extends { readonly data: object }>(event: Event): Event => ({
  ...event,
  at: later,
  data: { ...event.data, run: 2 },
});
