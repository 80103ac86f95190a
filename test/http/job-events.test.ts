import { expect } from "chai";
import { caused, job, now, recipientSent } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { processing } from "../support/histories.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The history of a job", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
    await happen(api.log, job, processing());
    await api.log.record(job, [caused("sent", recipientSent({ recipient: 2 }))]);
  });
  after(() => api.close());

  it("is answered in the order of the log, as it was appended", async () => {
    const { status, body } = await api.ask("GET", `/api/jobs/${job.jobId}/events`);
    expect(status).to.equal(200);
    const types = body.map(({ type }: { type: string }) => type);
    expect(types).to.deep.equal(["JobCreated", "JobStarted", "RecipientSent"]);
    expect(body[2]).to.deep.equal({
      sequence: 3,
      index: 0,
      type: "RecipientSent",
      time: now,
      jobId: job.jobId,
      tenant: "default",
      actor: "worker:worker-1",
      data: recipientSent({ recipient: 2 }).data,
    });
  });

  it("is found by an id in upper case", async () => {
    const { status } = await api.ask("GET", `/api/v1/jobs/${job.jobId.toUpperCase()}/events`);
    expect(status).to.equal(200);
  });
});
