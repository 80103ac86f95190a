import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { RequestRefused, Waybill } from "../../src/sdk/client.ts";
import { caused, jobCompleted, jobCreated, now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

/** More than one call looks at. */
const count = 1_010;

describe(`${count} notifications, marked as read while the read model shows none of the marks`, function () {
  this.timeout(60_000);

  const memory = createMemoryEventLog();
  let jobs: JobRef[];
  let archived: ReadonlySet<string>;
  let listMs: number;
  let api: RunningApi;

  beforeEach(async () => {
    jobs = Array.from({ length: count }, () => newJob());
    for (const job of jobs) {
      await memory.append(job, [{ ...caused(uuid(), jobCreated()), actor: "anonymous" }], 0);
      await memory.append(job, [caused(uuid(), jobCompleted())], await memory.lastDecision(job));
    }
    archived = new Set();
    listMs = 0;
    const log: EventLog = {
      ...memory,
      readDecisions: async (job) => {
        if (archived.has(job.jobId)) throw new Archived("1-1024.log", "it is not there");
        return await memory.readDecisions(job);
      },
    };
    const list = async (
      _tenant: string,
      _actor: string,
      { cursor, limit }: { cursor: number | null; limit: number },
    ) => {
      await pause(listMs);
      const from = cursor ?? 0;
      const notifications = jobs.slice(from, from + limit).map(({ jobId }) => {
        return { jobId, run: 1, type: "job.completed", progress: null, createdAt: now };
      });
      return { notifications, nextCursor: from + limit < jobs.length ? String(from + limit) : null };
    };
    const readPosition = { waitFor: async () => true } as never;
    api = await startApi({ log, readPosition, notifications: { list } as never });
  });
  afterEach(() => api.close());

  it("come to an end for a caller that goes on as long as there are more", async () => {
    const { notifications } = new Waybill({ url: api.url, maxRetries: 1 });
    const failure = await failureOf(notifications.markAllRead());
    expect(failure).to.be.instanceOf(RequestRefused).and.include({ status: 503, code: "read-model-behind" });
    const marks = await Promise.all(jobs.map((job) => memory.readNotices(job)));
    expect(marks.filter((notices) => notices.length === 1)).to.have.length(1000);
  });

  it("are marked though the database takes its time", async () => {
    listMs = 1100;
    jobs = jobs.slice(0, 10);
    expect((await api.ask("POST", "/api/notifications/read")).body).to.deep.equal({ read: 10, hasMore: false });
  });

  it("are marked beside those of jobs whose archive is not at hand", async () => {
    archived = new Set(jobs.slice(1).map(({ jobId }) => jobId));
    expect((await api.ask("POST", "/api/notifications/read")).body).to.deep.equal({ read: 1, hasMore: true });
    jobs = jobs.slice(1);
    expect((await api.ask("POST", "/api/notifications/read")).body).to.deep.equal({ read: 0, hasMore: false });
  });
});
