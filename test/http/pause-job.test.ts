import { expect } from "chai";
import { job, jobCreated, jobPaused, jobStarted, later, now } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { each, ended, everyStatus, paused, processing, scheduled } from "../support/histories.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const { jobId } = job;

describe("A job that is to be paused for a while", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const pause = (body?: unknown) => api.ask("POST", `/api/jobs/${jobId}/pause`, { body });
  const resume = (body?: unknown) => api.ask("POST", `/api/jobs/${jobId}/resume`, { body });
  const lastDecision = async () => (await api.log.readDecisions(job)).at(-1);

  for (const [status, history] of each(everyStatus)) {
    if (status in ended) {
      it(`cannot be paused once it is ${status}`, async () => {
        await happen(api.log, job, history());
        const answered = await pause();
        expect(answered.status).to.equal(409);
        expect(answered.body).to.include({ code: "job-has-ended", currentStatus: status });
        expect((await lastDecision())?.event).to.deep.equal(history().at(-1));
      });
    } else if (status !== "paused") {
      it(`is paused while it is ${status}, and answered whole`, async () => {
        await happen(api.log, job, history());
        const answered = await pause();
        expect(answered.status).to.equal(200);
        expect(answered.body).to.include({ id: jobId, status: "paused", nextAttemptAt: null });
        const decision = await lastDecision();
        expect(decision?.event).to.deep.equal({ type: "JobPaused", at: now, data: { reason: null } });
        expect(answered.headers.get("Event-Sequence")).to.equal(String(decision?.sequence));
      });
    }
  }

  it("stays paused when it is paused again", async () => {
    const sequence = await happen(api.log, job, paused());
    const answered = await pause({ reason: "once more" });
    expect([answered.status, answered.body.status]).to.deep.equal([200, "paused"]);
    expect(answered.headers.get("Event-Sequence")).to.equal(String(sequence));
    expect((await lastDecision())?.sequence).to.equal(sequence);
  });

  it("goes on with the attempt that was interrupted", async () => {
    await happen(api.log, job, [...processing(), jobPaused()]);
    const { status, body } = await resume();
    expect(status).to.equal(200);
    expect(body).to.include({ status: "queued", attempt: 0 });
    expect((await lastDecision())?.event.data).to.include({ run: 1, attempt: 1, notBefore: null });
  });

  it("waits again for its time when that has not come", async () => {
    await happen(api.log, job, [...scheduled(), jobPaused()]);
    expect((await resume()).body).to.include({ status: "scheduled", scheduledAt: later });
  });

  for (const [status, history] of each(everyStatus)) {
    if (status === "paused") continue;
    it(`cannot be resumed while it is ${status}`, async () => {
      await happen(api.log, job, history());
      const answered = await resume();
      expect(answered.status).to.equal(409);
      expect(answered.body).to.include({ code: "job-not-paused", currentStatus: status });
    });
  }

  it("keeps the reason and the caller", async () => {
    await happen(api.log, job, [jobCreated(), jobStarted()]);
    await pause({ reason: "wrong price" });
    expect(await lastDecision()).to.deep.include({ actor: "anonymous" });
    expect((await lastDecision())?.event.data).to.deep.equal({ reason: "wrong price" });
    await resume({ reason: "price is right" });
    expect((await lastDecision())?.event.data).to.include({ reason: "price is right" });
  });

  for (const [title, body, pointer] of [
    ["a reason that is no string", { reason: 1 }, "/reason"],
    ["an unknown field", { until: later }, "/until"],
  ] as const) {
    it(`stays as it is when the request has ${title}`, async () => {
      const sequence = await happen(api.log, job, [jobCreated()]);
      for (const answered of [await pause(body), await resume(body)]) {
        expect(answered.status).to.equal(400);
        expect(answered.body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal([pointer]);
      }
      expect((await lastDecision())?.sequence).to.equal(sequence);
    });
  }

  it("is not found where it never was", async () => {
    for (const answered of [await pause(), await resume()]) {
      expect([answered.status, answered.body.code]).to.deep.equal([404, "job-not-found"]);
    }
  });
});
