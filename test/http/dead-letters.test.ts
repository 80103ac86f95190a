import { expect } from "chai";
import { deadLettersProjector } from "../../projections/dead-letters/projector.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { deadLetterIgnored, jobRequeued, now, tooManyFailures } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { completed, failed } from "../support/histories.ts";
import { startApi } from "../support/running-api.ts";

describe("The list of dead letters", () => {
  let service: ApiWithReadSide;
  let jobs: readonly JobRef[];

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    jobs = Array.from({ length: 5 }, () => newJob());
    for (const job of jobs) {
      await readSide.storeContent(job);
      await readSide.happens(job, ...failed());
    }
    await readSide.happens(jobs[1] as JobRef, deadLetterIgnored());
    await readSide.happens(jobs[2] as JobRef, jobRequeued());
    await readSide.happens(newJob(), ...completed());
    await readSide.happens(newJob("other"), ...failed());
    readSide.startProjector(deadLettersProjector);
    await readSide.caughtUp("dead-letters");
  });
  after(() => service.close());

  const ask = (query: string, headers = {}) => service.api.ask("GET", `/api/dead-letters${query}`, { headers });
  const places = (data: readonly { jobId: string }[]) =>
    data.map((letter) => jobs.findIndex(({ jobId }) => jobId === letter.jobId));

  it("has the failed jobs of the tenant, the newest first", async () => {
    const { status, headers, body } = await ask("");
    expect(status).to.equal(200);
    expect(places(body.data)).to.deep.equal([4, 3, 2, 1, 0]);
    expect(body.nextCursor).to.equal(null);
    expect(headers.get("Read-Sequence")).to.equal("23");
  });

  it("says of each what failed and what was decided about it", async () => {
    const { body } = await ask("?limit=1");
    expect(body.data[0]).to.deep.equal({
      id: `${jobs[4]?.jobId}.1`,
      jobId: jobs[4]?.jobId,
      run: 1,
      type: "email.send",
      name: "November",
      subject: "Your invoice",
      error: tooManyFailures,
      reply: null,
      cause: tooManyFailures.message,
      progress: { total: 3, sent: 1, failed: 2, pending: 0, deferred: 0, unknown: 0, suppressed: 0 },
      failedAt: now,
      attempt: 1,
      status: "open",
      requeuedAs: null,
      reason: null,
      decidedBy: null,
      decidedAt: null,
    });
  });

  it("is paged by cursor", async () => {
    const first = await ask("?limit=2");
    const second = await ask(`?limit=2&cursor=${first.body.nextCursor}`);
    const third = await ask(`?limit=2&cursor=${second.body.nextCursor}`);
    expect([first, second, third].map(({ body }) => places(body.data))).to.deep.equal([[4, 3], [2, 1], [0]]);
    expect(third.body.nextCursor).to.equal(null);
  });

  for (const [status, expected] of [
    ["open", [4, 3, 0]],
    ["ignored", [1]],
    ["requeued", [2]],
    ["retried", []],
  ] as const) {
    it(`can be asked for those that are ${status}`, async () => {
      const { body } = await ask(`?status=${status}`);
      expect(places(body.data)).to.deep.equal(expected);
      expect(body.data.map((letter: { status: string }) => letter.status)).to.deep.equal(expected.map(() => status));
    });
  }

  for (const query of ["?status=closed", "?limit=0", "?limit=101", "?cursor=x", "?page=2"]) {
    it(`refuses ${query}`, async () => {
      const { status, body } = await ask(query);
      expect([status, body.code]).to.deep.equal([400, "validation-failed"]);
    });
  }

  it("is refused where it should include what it has not come to", async () => {
    const { status, body } = await ask("", { "Min-Sequence": "1000" });
    expect([status, body.code]).to.deep.equal([503, "read-model-behind"]);
  });

  it("includes what was decided through this process a moment ago", async () => {
    const id = `${jobs[0]?.jobId}.1`;
    await service.api.ask("POST", `/api/dead-letters/${id}/ignore`, { body: { reason: "test data" } });
    const { body } = await ask("?status=ignored");
    expect(places(body.data)).to.deep.equal([1, 0]);
  });

  it("is 503 without the database", async () => {
    const api = await startApi();
    const { status, body } = await api.ask("GET", "/api/dead-letters");
    expect([status, body.code]).to.deep.equal([503, "read-model-unavailable"]);
    await api.close();
  });
});
