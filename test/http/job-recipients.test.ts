import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  jobCompleted,
  jobContentErased,
  jobCreated,
  jobStarted,
  now,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { mailing } from "../support/running-api.ts";

describe("The recipients of a job", () => {
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
    service.api.ask("GET", `/api/jobs/${job.jobId}/recipients${query}`, { headers });
  const outcomesHappen = () =>
    service.readSide.happens(job, recipientSent({ recipient: 0 }), recipientFailed({ recipient: 2 }));
  const project = async (): Promise<void> => {
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
  };
  const indexesIn = (body: { data: readonly { recipient: number }[] }) => body.data.map(({ recipient }) => recipient);

  it("are told with their present state, in the order of the job", async () => {
    await outcomesHappen();
    await project();
    const { status, headers, body } = await ask();
    expect(status).to.equal(200);
    expect(headers.get("Read-Sequence")).to.equal("4");
    expect(body.pagination).to.deep.equal({ page: 1, pageSize: 100, total: 3, totalPages: 1, nextCursor: null });
    expect(indexesIn(body)).to.deep.equal([0, 1, 2]);
    expect(body.data.map((one: { status: string }) => one.status)).to.deep.equal(["sent", "pending", "failed"]);
    expect(body.data[0]).to.deep.equal({
      recipient: 0,
      email: "0@example.com",
      status: "sent",
      attempts: 1,
      run: 1,
      attempt: 1,
      messageId: recipientSent().data.messageId,
      response: "250 2.0.0 OK",
      error: null,
      sentAt: now,
      bouncedAt: null,
      complainedAt: null,
      updatedAt: now,
    });
  });

  it("can be asked for some statuses, and for a part of the address in any case", async () => {
    await outcomesHappen();
    await project();
    expect(indexesIn((await ask("?status=sent")).body)).to.deep.equal([0]);
    expect(indexesIn((await ask("?status=failed,pending")).body)).to.deep.equal([1, 2]);
    expect(indexesIn((await ask("?email=2@EXAMPLE")).body)).to.deep.equal([2]);
    expect((await ask("?email=%25")).body).to.deep.include({ data: [] });
    expect((await ask("?status=sent&email=1@")).body.pagination).to.include({ total: 0, totalPages: 0 });
  });

  it("are paged by number and by cursor", async () => {
    await project();
    const first = (await ask("?pageSize=2")).body;
    expect(indexesIn(first)).to.deep.equal([0, 1]);
    expect(first.pagination).to.deep.equal({ page: 1, pageSize: 2, total: 3, totalPages: 2, nextCursor: "1" });
    expect(indexesIn((await ask("?pageSize=2&page=2")).body)).to.deep.equal([2]);
    const next = (await ask(`?pageSize=2&cursor=${first.pagination.nextCursor}`)).body;
    expect(indexesIn(next)).to.deep.equal([2]);
    expect(next.pagination).to.include({ page: null, nextCursor: null });
  });

  it("are each on one page of a cursor, whatever happens to them in between", async () => {
    await project();
    const first = (await ask("?status=pending&pageSize=1")).body;
    expect(indexesIn(first)).to.deep.equal([0]);
    await outcomesHappen();
    await service.readSide.caughtUp("jobs");
    const { body } = await ask(`?status=pending&pageSize=1&cursor=${first.pagination.nextCursor}`);
    expect(indexesIn(body)).to.deep.equal([1]);
    expect(body.pagination.nextCursor).to.equal(null);
  });

  it("are pending for a job that was just accepted", async () => {
    service.readSide.startProjector(jobsProjector);
    const { body: accepted } = await service.api.ask("POST", "/api/jobs", { body: mailing });
    const { status, body } = await service.api.ask("GET", `/api/jobs/${accepted.jobId}/recipients`);
    expect(status).to.equal(200);
    expect(body.data.map((one: { email: string; status: string }) => [one.email, one.status])).to.deep.equal([
      ["ada@example.com", "pending"],
    ]);
  });

  it("are as of its end for a client that knows that the job has ended", async () => {
    await outcomesHappen();
    await service.readSide.happens(job, jobCompleted());
    const asked = ask();
    service.readSide.startProjector(jobsProjector);
    expect((await asked).body.data[0]).to.include({ status: "sent" });
  });

  it("are refused for now where the read model does not know the job yet", async () => {
    const { status, headers, body } = await ask();
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
    expect(headers.get("Retry-After")).to.equal("1");
  });

  it("are none of a job that was taken out of the lists", async () => {
    await outcomesHappen();
    await service.readSide.happens(job, jobCompleted(), jobContentErased({ isRetired: true }));
    await project();
    const { status, headers, body } = await ask();
    expect([status, body.data, headers.get("Read-Sequence")]).to.deep.equal([200, [], "6"]);
    expect(body.pagination).to.deep.equal({ page: 1, pageSize: 100, total: 0, totalPages: 0, nextCursor: null });
    expect((await ask("?cursor=1")).body.pagination).to.include({ page: null, nextCursor: null });
  });

  it("are not found for an id that was abandoned before it was a job", async () => {
    const abandoned = newJob();
    await service.readSide.happens(abandoned, jobContentErased());
    await project();
    const { status, body } = await service.api.ask("GET", `/api/jobs/${abandoned.jobId}/recipients`);
    expect([status, body.code]).to.deep.equal([404, "job-not-found"]);
  });

  it("are told with the log away, of jobs that were projected", async () => {
    await project();
    const { log } = service.readSide;
    log.lastDecision = async () => {
      throw new Unavailable("It is away.");
    };
    expect((await ask()).status).to.equal(200);
    const unknown = newJob();
    const { status } = await service.api.ask("GET", `/api/jobs/${unknown.jobId}/recipients`);
    expect(status).to.equal(503);
  });

  it("are told of jobs in an archive that is not at hand, and so is their log: read models keep their rows", async () => {
    await outcomesHappen();
    await project();
    const { log } = service.readSide;
    log.lastDecision = async () => {
      throw new Archived("log-000000000001-000000001024.waybill", "there is no ARCHIVE_DIR");
    };
    const { status, body } = await ask();
    expect([status, body.pagination?.total]).to.deep.equal([200, 3]);
    const lines = await service.api.ask("GET", `/api/jobs/${job.jobId}/logs`);
    expect([lines.status, lines.body.length]).to.deep.equal([200, 2]);
    const gone = await service.api.ask("GET", `/api/jobs/${newJob().jobId}/recipients`);
    expect([gone.status, gone.body.code]).to.deep.equal([410, "archived"]);
  });

  it("are not found for another tenant's job, and for none", async () => {
    const foreign = newJob("other");
    await service.readSide.happens(foreign, jobCreated());
    await project();
    for (const jobId of [foreign.jobId, newJob().jobId, "no-id"]) {
      expect(await service.api.ask("GET", `/api/jobs/${jobId}/recipients`)).to.include({ status: 404 });
    }
  });

  it("are refused with every fault of the query at once", async () => {
    const { status, body } = await ask("?status=success&page=0&pageSize=1001&cursor=x&email=&sort=email");
    expect(status).to.equal(400);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal([
      "?cursor",
      "?email",
      "?page",
      "?pageSize",
      "?sort",
      "?status",
    ]);
    const both = await ask("?page=2&cursor=1");
    expect(both.body.errors[0].pointer).to.equal("?page");
  });
});
