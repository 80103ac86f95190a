import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { earlier, later, now } from "../support/examples.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("A mailing posted with an idempotency key", () => {
  let api: RunningApi;
  let clock: string;
  let isLogAway: boolean;

  beforeEach(async () => {
    clock = now;
    isLogAway = false;
    api = await startApi({ log: failingWhen(() => isLogAway), now: () => clock });
  });
  afterEach(() => api.close());

  const post = (body: object = mailing, key = "order-17", path = "/api/jobs") =>
    api.ask("POST", path, { body, headers: { "Idempotency-Key": key } });

  const createdJobs = async (job: JobRef) => (await api.log.readDecisions(job)).length;

  it("is answered the same when it comes again, and only then says that it did", async () => {
    const first = await post();
    clock = later;
    const second = await post();
    expect(second.status).to.equal(201);
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers.get("Location")).to.equal(first.headers.get("Location"));
    expect(first.headers.get("Idempotency-Replayed")).to.equal(null);
    expect(second.headers.get("Idempotency-Replayed")).to.equal("true");
    expect(await createdJobs({ tenant: "default", jobId: first.body.jobId })).to.equal(1);
  });

  it("is the same request with its fields in another order, and by the other version of the API", async () => {
    const { body } = await post({ ...mailing, metadata: { a: "1", b: "2" } });
    const reversed = Object.fromEntries(Object.entries({ ...mailing, metadata: { b: "2", a: "1" } }).reverse());
    const again = await post(reversed, "order-17", "/api/v1/jobs");
    expect(again.status).to.equal(201);
    expect(again.body.jobId).to.equal(body.jobId);
  });

  it("may have its key in quotes", async () => {
    const { body } = await post();
    expect((await post(mailing, '"order-17"')).body.jobId).to.equal(body.jobId);
  });

  it("is another job with another key", async () => {
    const { body } = await post();
    const other = await post(mailing, "order-18");
    expect(other.headers.get("Idempotency-Replayed")).to.equal(null);
    expect(other.body.jobId).not.to.equal(body.jobId);
  });

  it("is scheduled in the answer to a repetition that comes after its time", async () => {
    const scheduled = { ...mailing, scheduledAt: now };
    clock = earlier;
    expect((await post(scheduled)).body).to.include({ status: "scheduled" });
    clock = later;
    expect((await post(scheduled)).body).to.include({ status: "scheduled", createdAt: earlier });
  });

  it("is answered as at first where the service would not take it any more, and another request is not", async () => {
    await api.close();
    let routes = ["default", "second"];
    api = await startApi({ routesFor: () => routes });
    const request = { ...mailing, route: "second" };
    const { body, status } = await post(request);
    expect(status, JSON.stringify(body)).to.equal(201);
    routes = ["default"];
    const again = await post(request);
    expect([again.status, again.body, again.headers.get("Idempotency-Replayed")]).to.deep.equal([201, body, "true"]);
    expect((await post({ ...request, subject: "Another" })).body.code).to.equal("validation-failed");
    expect((await post(request, "order-18")).body.code).to.equal("validation-failed");
  });

  it("is answered as at first after it was cancelled", async () => {
    const { body } = await post();
    await api.ask("DELETE", `/api/jobs/${body.jobId}`);
    expect((await post()).body).to.deep.equal(body);
  });

  for (const [title, change] of [
    ["content", { subject: "Another invoice" }],
    ["settings alone", { priority: "high" }],
  ] as const) {
    it(`is refused when the key comes again with other ${title}`, async () => {
      const { body } = await post();
      const other = await post({ ...mailing, ...change });
      expect(other.status).to.equal(422);
      expect(other.body).to.include({ code: "idempotency-key-reused" });
      expect(await createdJobs({ tenant: "default", jobId: body.jobId })).to.equal(1);
      expect(api.stored).to.have.length(1);
    });
  }

  it("becomes one job when ten requests race", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post()));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))).to.have.property("size", 1);
    expect(answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === null)).to.have.length(1);
    expect(await createdJobs({ tenant: "default", jobId: answers[0]?.body.jobId })).to.equal(1);
  });

  it("goes on where the first request ended between content and event", async () => {
    isLogAway = true;
    expect((await post()).status).to.equal(503);
    expect(api.stored).to.have.length(1);
    isLogAway = false;
    const { status, headers } = await post();
    expect(status).to.equal(201);
    expect(headers.get("Idempotency-Replayed")).to.equal(null);
  });

  it("is refused when the first request ended there and had other content", async () => {
    isLogAway = true;
    await post();
    isLogAway = false;
    expect((await post({ ...mailing, subject: "Another" })).body).to.include({ code: "idempotency-key-reused" });
    expect((await api.log.state()).lastSequence).to.equal(0);
  });
});

/** The world as a process leaves it that dies after it stored the content. */
function failingWhen(isAway: () => boolean): EventLog {
  const log = createMemoryEventLog();
  return {
    ...log,
    append: async (...event) => {
      if (isAway()) throw new Unavailable("There is no connection to NATS.");
      return log.append(...event);
    },
  };
}
