import { expect } from "chai";
import type { Knex } from "knex";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createDatabase } from "../../src/database/database.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { jobTypes } from "../../src/job-kinds/all-job-kinds.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { eventually } from "../support/eventually.ts";
import { jobCancelled, jobCreated, jobPaused } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

const at = (second: number): string => `2026-11-21T09:00:${String(second).padStart(2, "0")}.000Z`;

describe("The list of jobs", () => {
  let service: ApiWithReadSide;
  let jobs: readonly JobRef[];

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    jobs = Array.from({ length: 25 }, () => newJob());
    for (const [index, job] of jobs.entries()) {
      await readSide.storeContent(job, { subject: `Invoice ${index}` });
      await readSide.happens(job, jobCreated({}, at(index)));
    }
    await readSide.happens(jobs[3] as JobRef, jobCancelled({}, at(50)));
    await readSide.happens(jobs[4] as JobRef, jobPaused({}, at(51)));
    await readSide.happens(newJob("other"), jobCreated());
    readSide.startProjector(jobsProjector);
    await readSide.caughtUp("jobs");
  });
  after(() => service.close());

  const ask = (query: string) => service.api.ask("GET", `/api/jobs${query}`);
  const placesIn = (data: readonly { id: string }[]) =>
    data.map(({ id }) => jobs.findIndex(({ jobId }) => jobId === id));
  const places = async (query: string) => placesIn((await ask(query)).body.data);
  const range = (from: number, to: number) =>
    Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => (to > from ? from + index : from - index));

  it("begins with the newest, 20 to a page, and says how far the read model had come", async () => {
    const { status, headers, body } = await ask("");
    expect(status).to.equal(200);
    expect(placesIn(body.data)).to.deep.equal(range(24, 5));
    const { nextCursor, ...pagination } = body.pagination;
    expect(pagination).to.deep.equal({ page: 1, pageSize: 20, total: 25, totalPages: 2 });
    expect(nextCursor).to.be.a("string");
    expect(headers.get("Read-Sequence")).to.equal("28");
    expect(body.data[0]).to.deep.include({ subject: "Invoice 24", status: "queued" });
  });

  it("links to each job in the version of the API that was asked", async () => {
    const { body } = await service.api.ask("GET", "/api/v1/jobs?pageSize=1");
    expect(body.data[0].links.self).to.equal(`/api/v1/jobs/${jobs[24]?.jobId}`);
  });

  for (const [query, expected] of [
    ["?page=2", range(4, 0)],
    ["?page=3&pageSize=10", range(4, 0)],
    ["?page=4&pageSize=10", []],
    ["?order=asc&pageSize=3", [0, 1, 2]],
    ["?status=cancelled", [3]],
    ["?status=cancelled,paused&order=asc", [3, 4]],
    ["?status=completed", []],
    ["?type=email.send&pageSize=1", [24]],
    [`?createdAfter=${at(22)}`, [24, 23]],
    [`?createdBefore=${encodeURIComponent("2026-11-21T10:00:02+01:00")}`, [1, 0]],
    ["?q=invoice%2017", [17]],
    ["?sortBy=completedAt&order=asc&status=cancelled", [3]],
  ] as const) {
    it(`is what was asked for with ${query}`, async () => expect(await places(query)).to.deep.equal(expected));
  }

  it("goes on by cursor to its end", async () => {
    const { body: first } = await ask("?pageSize=10&order=asc");
    const { body: second } = await ask(`?pageSize=10&order=asc&cursor=${first.pagination.nextCursor}`);
    const { body: third } = await ask(`?pageSize=10&order=asc&cursor=${second.pagination.nextCursor}`);
    const all = [first, second, third].flatMap(({ data }) => placesIn(data));
    expect(all).to.deep.equal(range(0, 24));
    expect(second.pagination).to.include({ page: null, pageSize: 10, total: 25, totalPages: 3 });
    expect(third.pagination).to.include({ nextCursor: null });
  });

  for (const [query, pointer, message] of [
    ["?page=0", "?page", /^page is "0"; expected a whole number from 1 to 1000000$/],
    ["?page=1.5", "?page", /whole number/],
    ["?page=", "?page", /^page is ""/],
    ["?pageSize=101", "?pageSize", /from 1 to 100$/],
    ["?status=done", "?status", /^status is "done"; expected one or several, with commas, of pending,/],
    ["?status=failed,", "?status", /one or several/],
    ["?status=failed&status=pending", "?status", /^status is given more than once/],
    ["?type=sms.send", "?type", new RegExp(`^type is "sms.send"; expected one of ${jobTypes.join(", ")}$`)],
    ["?createdAfter=yesterday", "?createdAfter", /expected a time/],
    ["?createdBefore=2026-02-30T00:00:00Z", "?createdBefore", /expected a time/],
    ["?q=", "?q", /1 to 200 characters/],
    ["?sortBy=subject", "?sortBy", /expected one of createdAt, completedAt/],
    ["?order=DESC", "?order", /expected one of asc, desc/],
    ["?cursor=abc", "?cursor", /not from a list/],
    ["?cursor=W10&page=1", "?page", /beside cursor/],
    ["?pagesize=10", "?pagesize", /^pagesize is not a known parameter; expected status, type,/],
    ["?__proto__=1", "?__proto__", /not a known parameter/],
  ] as const) {
    it(`is refused with ${query}`, async () => {
      const { status, body } = await ask(query);
      expect(status).to.equal(400);
      expect(body.code).to.equal("validation-failed");
      expect(body.errors).to.have.length(1);
      expect(body.errors[0].pointer).to.equal(pointer);
      expect(body.errors[0].message).to.match(message);
    });
  }

  it("names every bad parameter in one answer", async () => {
    const { body } = await ask("?page=x&order=up&colour=red");
    const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.deep.equal(["?colour", "?order", "?page"]);
  });
});

describe("The list of jobs right after a command", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
  });
  afterEach(() => service.close());

  it("includes the job that was just accepted", async () => {
    const { api, readSide } = service;
    readSide.startProjector(jobsProjector);
    for (let round = 0; round < 10; round += 1) {
      const { body: accepted } = await api.ask("POST", "/api/jobs", { body: mailing });
      const { body } = await api.ask("GET", "/api/jobs?pageSize=1&sortBy=createdAt");
      expect(body.pagination.total).to.equal(round + 1);
      const { body: all } = await api.ask("GET", "/api/jobs");
      expect(all.data.map(({ id }: { id: string }) => id)).to.include(accepted.jobId);
    }
  });

  it("is answered without it when the read model does not get there within two seconds", async () => {
    await service.api.ask("POST", "/api/jobs", { body: mailing });
    const { status, body } = await service.api.ask("GET", "/api/jobs");
    expect(status).to.equal(200);
    expect(body.pagination).to.include({ total: 0 });
  });

  it("is refused then when the client insists", async () => {
    const { headers } = await service.api.ask("POST", "/api/jobs", { body: mailing });
    const insisting = { "Min-Sequence": headers.get("Event-Sequence") ?? "" };
    const { status, body } = await service.api.ask("GET", "/api/jobs", { headers: insisting });
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
  });
});

describe("While searches take all connections that they may have", () => {
  let side: ReadSide;
  let searches: Knex;
  let api: RunningApi;

  before(async () => {
    side = await openReadSide();
    searches = createDatabase(side.url, { connections: 3, acquireMs: 200 });
    const { log, contentStore, positions: readPosition } = side;
    api = await startApi({ log, contentStore, readPosition, jobs: createJobQueries(side.db, searches) });
    await side.happens(newJob(), jobCreated());
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
  });
  after(async () => {
    await api.close();
    await searches.destroy();
    await side.cleanUp();
  });

  it("a list is answered at once, and another search with when to try again", async () => {
    const busy = await Promise.all([1, 2, 3].map(() => searches.client.acquireConnection()));
    const far = "page=1002&pageSize=100";
    const queries = ["q=invoice", "type=report.export", "q=a&status=failed", "q=b&sortBy=completedAt", far];
    const searching = [...queries, ...queries, ...queries].map((query) => api.ask("GET", `/api/jobs?${query}`));
    for (const query of ["", "?status=failed", "?createdAfter=2026-01-01T00:00:00Z", "?page=1001&pageSize=100"]) {
      expect((await api.ask("GET", `/api/jobs${query}`)).status, query).to.equal(200);
    }
    for (const { status, headers } of await Promise.all(searching)) {
      expect(status).to.equal(503);
      expect(headers.get("Retry-After")).to.match(/^\d+$/);
    }
    await Promise.all(busy.map((connection) => searches.client.releaseConnection(connection)));
    await eventually(async () => expect((await api.ask("GET", "/api/jobs?q=invoice")).status).to.equal(200));
  });
});
