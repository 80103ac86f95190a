import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  earlier,
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobStarted,
  later,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { startApi } from "../support/running-api.ts";

describe("the statistics of jobs", () => {
  let service: ApiWithReadSide;

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    // Examples happen at 09:30, which is the time of the API too.
    const mailed = [jobCreated(), jobStarted(), recipientSent(), recipientFailed({ recipient: 1 })];
    await readSide.happens(newJob(), ...mailed, recipientSent({ recipient: 2 }), jobCompleted());
    await readSide.happens(newJob(), jobCreated(), jobStarted(), jobFailed());
    await readSide.happens(newJob(), jobCreated(), jobCancelled());
    await readSide.happens(newJob(), jobCreated({ priority: "high" }, earlier));
    await readSide.happens(newJob(), jobCreated({ priority: "high" }));
    await readSide.happens(newJob(), jobCreated({ scheduledAt: later }));
    await readSide.happens(newJob("acme"), jobCreated({ priority: "low" }, earlier));
    readSide.startProjector(jobsProjector);
    await readSide.caughtUp("jobs");
  });
  after(() => service.close());

  const ask = (path: string, headers = {}) => service.api.ask("GET", path, { headers });

  it("are the caller's tenant's alone", async () => {
    const { status, body, headers } = await ask("/api/stats");
    expect(status).to.equal(200);
    expect(body.jobs).to.deep.equal({
      pending: 0,
      scheduled: 1,
      queued: 2,
      processing: 0,
      retrying: 0,
      paused: 0,
      completed: 1,
      failed: 1,
      cancelled: 1,
    });
    expect(body.waiting).to.deep.equal({
      high: { jobs: 2, oldestAgeSeconds: 60 },
      normal: { jobs: 0, oldestAgeSeconds: null },
      low: { jobs: 0, oldestAgeSeconds: null },
    });
    expect(Number(headers.get("Read-Sequence"))).to.equal((await service.api.log.state()).lastSequence);
  });

  it("tell what happens in a minute, and how much of it fails", async () => {
    const { body } = await ask("/api/stats");
    expect(body.perMinute.last5Minutes).to.deep.equal({
      jobsCreated: 1.2,
      jobsCompleted: 0.2,
      jobsFailed: 0.2,
      jobsCancelled: 0.2,
      mailsSent: 0.4,
      mailsFailed: 0.2,
      mailsUnknown: 0,
      mailsSuppressed: 0,
      mailsBounced: 0,
      mailsComplained: 0,
    });
    expect(body.perMinute.last60Minutes.jobsCreated).to.equal(0.1);
    expect(body.failureRate).to.deep.equal({ jobs: 0.5, mails: 0.3333 });
  });

  it("tell how far behind each read model is", async () => {
    const { body } = await ask("/api/stats");
    expect(body.projections.jobs).to.include({ lagEvents: 0, lagSeconds: 0 });
    expect(body.projections.waiting.lagEvents).to.be.greaterThan(0);
  });

  it("are of all tenants together for an operator", async () => {
    for (const path of ["/api/admin/jobs/stats", "/api/v1/admin/jobs/stats"]) {
      const { status, body } = await ask(path);
      expect(status).to.equal(200);
      expect(body.jobs.queued).to.equal(3);
      expect(body.waiting.low).to.deep.equal({ jobs: 1, oldestAgeSeconds: 60 });
    }
  });

  it("include what was written before, where that is asked for", async () => {
    const { lastSequence } = await service.api.log.state();
    expect((await ask("/api/stats", { "Min-Sequence": String(lastSequence) })).status).to.equal(200);
    const { status, body } = await ask("/api/stats", { "Min-Sequence": String(lastSequence + 1) });
    expect([status, body.code]).to.deep.equal([503, "read-model-behind"]);
  });

  it("take no parameters", async () => {
    const { status, body } = await ask("/api/stats?tenant=acme");
    expect([status, body.errors[0].pointer]).to.deep.equal([400, "?tenant"]);
  });

  it("cannot be told while the database is away", async () => {
    const api = await startApi();
    const { status, body } = await api.ask("GET", "/api/stats");
    expect([status, body.code]).to.deep.equal([503, "read-model-unavailable"]);
    await api.close();
  });
});
