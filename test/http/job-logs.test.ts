import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  jobCompleted,
  jobCreated,
  jobStarted,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { mailing } from "../support/running-api.ts";

describe("The logs of a job", () => {
  let service: ApiWithReadSide;
  let job: JobRef;

  beforeEach(async () => {
    service = await startApiWithReadSide();
    job = newJob();
    await service.readSide.storeContent(job);
    await service.readSide.happens(job, jobCreated(), jobStarted());
  });
  afterEach(() => service.close());

  const ask = (query = "", headers: Record<string, string> = {}) =>
    service.api.ask("GET", `/api/jobs/${job.jobId}/logs${query}`, { headers });
  const outcomesHappen = () =>
    service.readSide.happens(
      job,
      recipientSent({ recipient: 0 }),
      recipientDeferred({ recipient: 1 }),
      recipientFailed({ recipient: 2 }),
      recipientSent({ recipient: 1, attempt: 2 }),
    );
  const idsIn = (body: readonly { id: string }[]) => body.map(({ id }) => Number(id));

  it("tell what happened to each recipient, attempt by attempt, oldest first", async () => {
    await outcomesHappen();
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
    const { status, headers, body } = await ask();
    expect(status).to.equal(200);
    expect(headers.get("Read-Sequence")).to.equal("6");
    expect(headers.get("Link")).to.equal(null);
    expect(body.map((entry: { status: string; email: string }) => [entry.status, entry.email])).to.deep.equal([
      ["success", "0@example.com"],
      ["deferred", "1@example.com"],
      ["failed", "2@example.com"],
      ["success", "1@example.com"],
    ]);
    expect(body[0]).to.deep.equal({
      id: "3.0",
      recipient: 0,
      email: "0@example.com",
      status: "success",
      attempt: 1,
      run: 1,
      sentAt: now,
      createdAt: now,
      messageId: recipientSent().data.messageId,
      response: "250 2.0.0 OK",
      error: null,
    });
  });

  it("can be asked for one status, one address in any spelling, and page by page", async () => {
    await outcomesHappen();
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
    expect(idsIn((await ask("?status=success")).body)).to.deep.equal([3, 6]);
    expect(idsIn((await ask("?email=1@example.com")).body)).to.deep.equal([4, 6]);
    expect(idsIn((await ask("?email=1@EXAMPLE.com")).body)).to.deep.equal([4, 6]);
    const first = await ask("?limit=1&status=success&email=1%40example.com");
    expect(idsIn(first.body)).to.deep.equal([6]);
    expect(first.headers.get("Link")).to.equal(null);

    const page = await ask("?limit=3");
    expect(idsIn(page.body)).to.deep.equal([3, 4, 5]);
    expect(page.headers.get("Link")).to.equal(`</api/jobs/${job.jobId}/logs?after=5.0&limit=3>; rel="next"`);
    const next = /<(.*)>/.exec(page.headers.get("Link") ?? "")?.[1] ?? "";
    expect(idsIn((await service.api.ask("GET", next)).body)).to.deep.equal([6]);
  });

  it("are linked to their next page with the filters they were asked with", async () => {
    await outcomesHappen();
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
    const { headers } = await ask("?limit=1&status=success");
    expect(headers.get("Link")).to.equal(`</api/jobs/${job.jobId}/logs?after=3.0&limit=1&status=success>; rel="next"`);
  });

  it("are complete for a client that knows that the job has ended", async () => {
    await outcomesHappen();
    await service.readSide.happens(job, jobCompleted());
    const asked = ask();
    service.readSide.startProjector(jobsProjector);
    expect((await asked).body).to.have.length(4);
  });

  it("wait for the sequence that the client has seen", async () => {
    const sequence = await outcomesHappen();
    const asked = ask("", { "Min-Sequence": String(sequence) });
    service.readSide.startProjector(jobsProjector);
    expect((await asked).body).to.have.length(4);
  });

  it("are answered as they are when the read model does not get there within two seconds", async () => {
    expect(await ask()).to.deep.include({ status: 200, body: [] });
    const { status, body } = await ask("", { "Min-Sequence": "2" });
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
  });

  it("are empty for a job that was just accepted", async () => {
    service.readSide.startProjector(jobsProjector);
    const { body: accepted } = await service.api.ask("POST", "/api/jobs", { body: mailing });
    expect(await service.api.ask("GET", `/api/jobs/${accepted.jobId}/logs`)).to.deep.include({ status: 200, body: [] });
  });

  it("are not found for another tenant's job", async () => {
    const foreign = newJob("other");
    await service.readSide.happens(foreign, jobCreated());
    expect(await service.api.ask("GET", `/api/jobs/${foreign.jobId}/logs`)).to.include({ status: 404 });
  });

  for (const [query, pointer] of [
    ["?status=sent", "?status"],
    ["?status=failed,success", "?status"],
    ["?limit=0", "?limit"],
    ["?limit=5001", "?limit"],
    ["?after=-1", "?after"],
    ["?after=x", "?after"],
    ["?email=", "?email"],
    ["?page=2", "?page"],
  ]) {
    it(`are refused with ${query}`, async () => {
      const { status, body } = await ask(query);
      expect(status).to.equal(400);
      expect(body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal([pointer]);
    });
  }
});
