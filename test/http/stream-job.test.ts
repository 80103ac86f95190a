import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createLive, type Live } from "../../src/history/live/live.ts";
import { openStream, readToEnd, readUntil, type StreamEvent } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import {
  jobCompleted,
  jobCreated,
  jobFailed,
  jobPaused,
  jobResumed,
  jobRetried,
  jobStarted,
  recipientSent,
  recipientsClaimed,
} from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

const statusesOf = (events: readonly StreamEvent[]): readonly string[] =>
  events.filter(({ event }) => event === "status").map(({ data }) => data.status);

const sent = (...recipients: readonly number[]) => recipients.map((recipient) => recipientSent({ recipient }));

describe("The stream of a job", () => {
  let api: RunningApi;
  let live: Live;

  before(async () => {
    const log = createMemoryEventLog();
    const contentStore = createMemoryContentStore();
    live = createLive({ log, contentStore, report: () => {}, limits: { inProcess: 5, ofTenant: 3 } });
    api = await startApi({ log, contentStore, live });
  });
  after(() => api.close());
  afterEach(() => eventually(() => expect([live.listeners(), live.streams.count()]).to.deep.equal([0, 0])));

  const open = (jobId: string, headers: Record<string, string> = {}) =>
    openStream(`${api.url}/api/jobs/${jobId}/stream`, headers);

  it("tells how the job stands, each change of its status, and ends with the job", async () => {
    const job = newJob();
    await happen(api.log, job, [jobCreated()]);
    const stream = await open(job.jobId);
    const events = readToEnd(stream);
    await eventually(() => expect(live.listeners()).to.equal(1));
    await happen(api.log, job, [jobStarted(), recipientsClaimed(), ...sent(0, 1, 2), jobCompleted()]);
    expect(stream.headers.get("Content-Type")).to.equal("text/event-stream");
    expect(stream.headers.get("X-Accel-Buffering")).to.equal("no");
    const told = await events;
    expect(statusesOf(told)).to.deep.equal(["queued", "processing", "completed"]);
    expect(told.at(-1)?.data.progress).to.include({ sent: 3, pending: 0 });
    const ids = told.map(({ id }) => id);
    expect(ids).to.deep.equal(ids.toSorted((one, other) => one - other));
  });

  it("tells the job as GET does", async () => {
    const { body } = await api.ask("POST", "/api/v1/jobs", { body: mailing });
    const [first] = await readUntil(await openStream(`${api.url}/api/v1/jobs/${body.jobId}/stream`), () => true);
    expect(first?.data).to.deep.equal((await api.ask("GET", `/api/v1/jobs/${body.jobId}`)).body);
    expect(first?.data.subject).to.equal(mailing.subject);
  });

  it("tells of the recipients between two changes of status", async () => {
    const job = newJob();
    await happen(api.log, job, [jobCreated(), jobStarted()]);
    const events = readUntil(await open(job.jobId), (read) => read.at(-1)?.data.progress.sent === 2);
    await eventually(() => expect(live.listeners()).to.equal(1));
    const last = await happen(api.log, job, sent(0, 1));
    expect((await events).at(-1)).to.deep.include({ event: "progress", id: last });
  });

  it("of a job that has ended is its last status, and its end", async () => {
    const job = newJob();
    const last = await happen(api.log, job, [jobCreated(), jobStarted(), ...sent(0, 1, 2), jobCompleted()]);
    const events = await readToEnd(await open(job.jobId));
    expect(events.map(({ event, id, data }) => [event, id, data.status])).to.deep.equal([
      ["status", last, "completed"],
    ]);
  });

  it("goes on where the client was, with every change of status since", async () => {
    const job = newJob();
    const seen = await happen(api.log, job, [jobCreated()]);
    await happen(api.log, job, [jobStarted(), ...sent(0), jobPaused(), jobResumed(), jobStarted(), jobCompleted()]);
    const events = await readToEnd(await open(job.jobId, { "Last-Event-ID": String(seen) }));
    expect(statusesOf(events)).to.deep.equal(["processing", "paused", "queued", "processing", "completed"]);
    expect(events.map(({ id }) => id)).to.deep.equal([3, 5, 6, 7, 8].map((step) => seen - 2 + step));
  });

  it("tells a client that has seen the end not to come again", async () => {
    const job = newJob();
    const last = await happen(api.log, job, [jobCreated(), jobStarted(), jobCompleted()]);
    const { status } = await open(job.jobId, { "Last-Event-ID": String(last) });
    expect(status).to.equal(204);
  });

  it("goes on past an end after which the job was run again", async () => {
    const job = newJob();
    const seen = await happen(api.log, job, [jobCreated(), jobStarted()]);
    await happen(api.log, job, [jobFailed(), jobRetried()]);
    const events = readToEnd(await open(job.jobId, { "Last-Event-ID": String(seen) }));
    await eventually(() => expect(live.listeners()).to.equal(1));
    await happen(api.log, job, [jobStarted({ run: 2 }), jobCompleted({ run: 2 })]);
    expect(statusesOf(await events)).to.deep.equal(["failed", "queued", "processing", "completed"]);
  });

  it("goes on where a new leader of the log does not know its end yet", async () => {
    const job = newJob();
    const seen = await happen(api.log, job, [jobCreated(), jobStarted()]);
    let staleAnswers = 0;
    const lagging: EventLog = {
      ...api.log,
      state: async () => {
        staleAnswers -= 1;
        const state = await api.log.state();
        return staleAnswers < 0 ? state : { ...state, lastSequence: seen - 1 };
      },
    };
    const { contentStore } = api;
    const other = createLive({ log: lagging, contentStore, report: () => {} });
    const again = await startApi({ log: lagging, contentStore, live: other });
    const url = `${again.url}/api/jobs/${job.jobId}/stream`;
    const first = await openStream(url);
    staleAnswers = 2;
    const second = await openStream(url, { "Last-Event-ID": String(seen) });
    for (const { close } of [first, second]) close();
    await again.close();
    expect(second.status).to.equal(200);
  });

  it("is there for the job's own tenant only", async () => {
    const job = newJob("acme");
    await happen(api.log, job, [jobCreated(), jobStarted(), jobCompleted()]);
    for (const jobId of [job.jobId, newJob().jobId, "nonsense"]) {
      const { status, body } = await api.ask("GET", `/api/jobs/${jobId}/stream`);
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "job-not-found" });
    }
  });

  it("is refused for an id that no event of the job can have", async () => {
    const job = newJob();
    await happen(api.log, job, [jobCreated()]);
    for (const id of ["abc", "-1", "1e3", "1.5", "999999999", "99999999999999999999", "1, 2", "%00"]) {
      const headers = { "Last-Event-ID": id };
      const { status, body } = await api.ask("GET", `/api/jobs/${job.jobId}/stream`, { headers });
      expect({ id, status, pointer: body.errors?.[0].pointer }).to.deep.equal({
        id,
        status: 400,
        pointer: "Last-Event-ID",
      });
    }
  });

  it("is no JSON", async () => {
    const headers = { Accept: "application/json" };
    const { status } = await api.ask("GET", `/api/jobs/${newJob().jobId}/stream`, { headers });
    expect(status).to.equal(406);
  });

  it("leaves nothing behind where clients come and go", async () => {
    const job = newJob();
    await happen(api.log, job, [jobCreated()]);
    for (let round = 0; round < 40; round += 1) {
      const streams = await Promise.all([open(job.jobId), open(job.jobId), open(job.jobId)]);
      expect(streams.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      for (const stream of streams) stream.close();
      await fetch(`${api.url}/api/jobs/${job.jobId}/stream`, { method: "HEAD" });
      await eventually(() => expect([live.listeners(), live.streams.count()]).to.deep.equal([0, 0]));
    }
  });

  it("ends when the key that asked for it is revoked", async () => {
    let isRevoked = false;
    const limits = { senders: null, dailyRecipients: null, approvalAbove: null };
    const caller = { tenant: "default", actor: "key:1", limits };
    const access = {
      admit: async () => ({ outcome: "admitted" as const, caller, rate: null }),
      isStillAdmitted: (actor: string, scope: string) => actor !== "key:1" || scope !== "jobs:read" || !isRevoked,
    };
    const guarded = await startApi({ access });
    const job = newJob();
    await happen(guarded.log, job, [jobCreated()]);
    const events = readToEnd(await openStream(`${guarded.url}/api/jobs/${job.jobId}/stream`));
    isRevoked = true;
    expect(statusesOf(await events)).to.deep.equal(["queued"]);
    await guarded.close();
  });

  it("is refused to a tenant that has too many", async () => {
    const job = newJob();
    await happen(api.log, job, [jobCreated()]);
    const streams = await Promise.all([open(job.jobId), open(job.jobId), open(job.jobId)]);
    const { status, headers, body } = await api.ask("GET", `/api/jobs/${job.jobId}/stream`);
    expect({ status, code: body.code }).to.deep.equal({ status: 429, code: "too-many-streams" });
    expect(headers.get("Retry-After")).to.equal("5");
    for (const stream of streams) stream.close();
  });
});
