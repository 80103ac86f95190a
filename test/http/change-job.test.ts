import { expect } from "chai";
import { caused, job, jobCreated, now, recipientFailed, recipientSent } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { each, ended, everyStatus, failed, processing } from "../support/histories.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const { jobId } = job;

describe("A job that is to be changed", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const cancel = (body?: unknown) => api.ask("DELETE", `/api/jobs/${jobId}`, { body });
  const retry = (body?: unknown) => api.ask("POST", `/api/jobs/${jobId}/retry`, { body });
  const lastDecision = async () => (await api.log.readDecisions(job)).at(-1);

  for (const [status, history] of each(everyStatus)) {
    if (status in ended) {
      it(`cannot be cancelled once it is ${status}`, async () => {
        await happen(api.log, job, history());
        const before = await lastDecision();
        const answered = await cancel();
        expect(answered.status).to.equal(409);
        expect(answered.body).to.include({ code: "job-has-ended", currentStatus: status });
        expect(await lastDecision()).to.deep.equal(before);
      });
    } else {
      it(`is cancelled while it is ${status}, and answered whole`, async () => {
        await happen(api.log, job, history());
        const answered = await cancel();
        expect(answered.status).to.equal(200);
        expect(answered.body).to.include({ id: jobId, status: "cancelled", completedAt: now });
        const decision = await lastDecision();
        expect(decision?.event).to.deep.equal({ type: "JobCancelled", at: now, data: { reason: null } });
        expect(answered.headers.get("Event-Sequence")).to.equal(String(decision?.sequence));
      });
    }
  }

  for (const [status, history] of each(everyStatus)) {
    if (status === "failed") continue;
    it(`cannot be retried while it is ${status}`, async () => {
      await happen(api.log, job, history());
      const answered = await retry();
      expect(answered.status).to.equal(409);
      expect(answered.body).to.include({ code: "job-not-failed", currentStatus: status });
    });
  }

  it("runs again when it failed: failed recipients are pending, and sent ones stay sent", async () => {
    await happen(api.log, job, processing());
    await api.log.record(job, [caused("a", recipientSent({ recipient: 0 }))]);
    await api.log.record(job, [caused("b", recipientFailed({ recipient: 1 }))]);
    await happen(api.log, job, failed().slice(-1));
    const { status, body } = await retry();
    expect(status).to.equal(200);
    expect(body).to.include({ status: "queued", attempt: 0, completedAt: null, error: null });
    expect(body.progress).to.deep.equal({
      sent: 1,
      failed: 0,
      total: 3,
      pending: 2,
      deferred: 0,
      unknown: 0,
      suppressed: 0,
      bounced: 0,
      complained: 0,
    });
    expect((await lastDecision())?.event.data).to.include({ run: 2, scope: "failed", reason: null });
  });

  it("keeps the reason, the scope and the caller", async () => {
    await happen(api.log, job, failed());
    await retry({ scope: "unsent", reason: "the mail server is back" });
    const decision = await lastDecision();
    expect(decision?.event.data).to.include({ scope: "unsent", reason: "the mail server is back" });
    expect(decision).to.include({ actor: "anonymous" });
  });

  it("keeps why it was cancelled", async () => {
    await happen(api.log, job, [jobCreated()]);
    await cancel({ reason: "wrong price" });
    expect((await lastDecision())?.event.data).to.deep.equal({ reason: "wrong price" });
  });

  for (const [title, body, pointer] of [
    ["an unknown scope", { scope: "all" }, "/scope"],
    ["a reason that is no string", { reason: 1 }, "/reason"],
    ["a reason of two lines", { reason: "a\nb" }, "/reason"],
    ["a reason of 501 characters", { reason: "x".repeat(501) }, "/reason"],
    ["a reason that has an address, which the log would keep for ever", { reason: "ada@example.com asked" }, "/reason"],
    ["an unknown field", { recipients: [] }, "/recipients"],
  ] as const) {
    it(`stays as it is when the request has ${title}`, async () => {
      await happen(api.log, job, failed());
      const answered = await retry(body);
      expect(answered.status).to.equal(400);
      expect(answered.body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal([pointer]);
      expect((await lastDecision())?.event.type).to.equal("JobFailed");
    });
  }

  it("stays as it is when a cancel names a scope", async () => {
    await happen(api.log, job, [jobCreated()]);
    expect((await cancel({ scope: "failed" })).status).to.equal(400);
    expect((await lastDecision())?.event.type).to.equal("JobCreated");
  });

  for (const unknown of [jobId, "17", "..%2f", "%00", "jobs.*", "%E0%A4%A"]) {
    it(`is not found under ${unknown}`, async () => {
      for (const [method, path] of [
        ["DELETE", ""],
        ["POST", "/retry"],
        ["GET", ""],
        ["GET", "/events"],
        ["GET", "/logs"],
      ] as const) {
        const { status, body } = await api.ask(method, `/api/jobs/${unknown}${path}`);
        expect({ method, path, status, code: body.code }).to.deep.equal({
          method,
          path,
          status: 404,
          code: "job-not-found",
        });
      }
    });
  }
});
