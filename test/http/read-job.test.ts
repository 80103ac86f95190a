import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobCreated, jobStarted, now, recipientFailed, recipientSent, recipientsClaimed } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { mailing } from "../support/running-api.ts";

describe("Asked for one job", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
  });
  afterEach(() => service.close());

  const ask = (path: string, headers: Record<string, string> = {}) => service.api.ask("GET", path, { headers });
  const project = async () => {
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
  };

  it("the API answers it with its progress, and how far the read model had come", async () => {
    const { readSide } = service;
    const job = newJob();
    await readSide.storeContent(job);
    await readSide.happens(job, jobCreated(), jobStarted(), recipientsClaimed());
    const sequence = await readSide.happens(job, recipientSent({ recipient: 0 }), recipientFailed({ recipient: 2 }));
    await project();
    const { status, headers, body } = await ask(`/api/jobs/${job.jobId}`);
    expect(status).to.equal(200);
    expect(headers.get("Read-Sequence")).to.equal(String(sequence));
    expect(body).to.deep.equal({
      id: job.jobId,
      type: "email.send",
      name: "November",
      status: "processing",
      priority: "normal",
      progress: {
        sent: 1,
        failed: 1,
        total: 3,
        pending: 1,
        deferred: 0,
        unknown: 0,
        suppressed: 0,
        bounced: 0,
        complained: 0,
      },
      subject: "Your invoice",
      attempt: 1,
      maxAttempts: 4,
      createdAt: now,
      scheduledAt: null,
      startedAt: now,
      completedAt: null,
      nextAttemptAt: null,
      error: null,
      requeueOf: null,
      mailing: null,
      metadata: { campaign: "11" },
      links: {
        self: `/api/jobs/${job.jobId}`,
        logs: `/api/jobs/${job.jobId}/logs`,
        events: `/api/jobs/${job.jobId}/events`,
        stream: `/api/jobs/${job.jobId}/stream`,
      },
    });
  });

  it("the API finds one that was accepted a moment ago and is in no read model yet", async () => {
    const { body: accepted } = await service.api.ask("POST", "/api/jobs", { body: mailing });
    const { status, headers, body } = await ask(`/api/jobs/${accepted.jobId}`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ id: accepted.jobId, status: "queued", subject: mailing.subject });
    expect(headers.get("Read-Sequence")).to.equal("1");
  });

  it("the API finds one that another process accepted a moment ago", async () => {
    const job = newJob();
    await service.readSide.happens(job, jobCreated());
    expect(await ask(`/api/jobs/${job.jobId}`)).to.deep.include({ status: 200 });
  });

  it("the API does not forget what it has just decided, however far behind the read model is", async () => {
    const { readSide, api } = service;
    const job = newJob();
    await readSide.happens(job, jobCreated());
    const projector = readSide.startProjector(jobsProjector);
    await readSide.caughtUp("jobs");
    await projector.stop();
    await api.ask("DELETE", `/api/jobs/${job.jobId}`);
    expect((await ask(`/api/jobs/${job.jobId}`)).body).to.include({ status: "cancelled" });
  });

  it("the API names with its answer to a decision the last event that is in it", async () => {
    const { readSide, api } = service;
    const job = newJob();
    await readSide.happens(job, jobCreated(), jobStarted());
    await api.ask("POST", `/api/jobs/${job.jobId}/pause`);
    const sequence = await readSide.happens(job, recipientSent({ recipient: 0 }));
    // Said again, it decides nothing.
    const { headers, body } = await api.ask("POST", `/api/jobs/${job.jobId}/pause`);
    expect(body.progress).to.include({ sent: 1 });
    expect(headers.get("Event-Sequence")).to.equal(String(sequence));
  });

  it("the API shows as much as it has shown before, from the log while the read model is behind", async () => {
    const { readSide, api } = service;
    const job = newJob();
    await readSide.happens(job, jobCreated(), jobStarted(), recipientSent({ recipient: 0 }));
    await api.ask("POST", `/api/jobs/${job.jobId}/pause`);
    await readSide.happens(job, recipientSent({ recipient: 1 }));
    const first = await ask(`/api/jobs/${job.jobId}`);
    expect(first.body.progress).to.include({ sent: 2 });
    await project();
    const second = await ask(`/api/jobs/${job.jobId}`);
    expect(second.body.progress).to.include({ sent: 2 });
    expect(Number(second.headers.get("Read-Sequence"))).to.be.at.least(Number(first.headers.get("Read-Sequence")));
  });

  it("the API does not know one that was never accepted, nor one of another tenant", async () => {
    const foreign = newJob("other");
    await service.readSide.happens(foreign, jobCreated());
    await project();
    for (const { jobId } of [foreign, newJob()]) {
      const { status, body } = await ask(`/api/jobs/${jobId}`);
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "job-not-found" });
    }
  });

  it("the API waits for the sequence that the client has seen", async () => {
    const { readSide } = service;
    const job = newJob();
    const sequence = await readSide.happens(job, jobCreated(), jobStarted());
    const asked = ask(`/api/jobs/${job.jobId}`, { "Min-Sequence": String(sequence) });
    readSide.startProjector(jobsProjector);
    const { status, headers, body } = await asked;
    expect(status).to.equal(200);
    expect(body).to.include({ status: "processing" });
    expect(Number(headers.get("Read-Sequence"))).to.be.at.least(sequence);
  });

  it("the API says to come back when the read model does not get there within two seconds", async () => {
    const job = newJob();
    const sequence = await service.readSide.happens(job, jobCreated());
    const began = performance.now();
    const { status, headers, body } = await ask(`/api/jobs/${job.jobId}`, { "Min-Sequence": String(sequence) });
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
    expect(headers.get("Retry-After")).to.equal("1");
    expect(performance.now() - began).to.be.within(1900, 8000);
  });
});
