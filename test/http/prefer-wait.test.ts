import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { createLive, type Live } from "../../src/history/live/live.ts";
import { eventually } from "../support/eventually.ts";
import { counts, jobCompleted, jobStarted, recipientSent } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("A mailing that prefers to wait", () => {
  let api: RunningApi;
  let live: Live;

  before(async () => {
    const log = createMemoryEventLog();
    const contentStore = createMemoryContentStore();
    live = createLive({ log, contentStore, report: () => {} });
    api = await startApi({ log, contentStore, live });
  });
  after(() => api.close());
  afterEach(() => eventually(() => expect([live.listeners(), live.streams.count()]).to.deep.equal([0, 0])));

  const create = (prefer: string, headers: Record<string, string> = {}): Promise<Answered> =>
    api.ask("POST", "/api/jobs", { body: mailing, headers: { Prefer: prefer, ...headers } });

  const theNewJob = () =>
    eventually(async () => {
      expect(live.listeners()).to.equal(1);
      const { body } = await api.ask("GET", "/api/events?types=JobCreated&limit=1000");
      return { tenant: "default", jobId: body.data.at(-1).jobId as string };
    });

  it("is answered once the job has ended, with the job as it is then", async () => {
    const answered = create("wait=30");
    const job = await theNewJob();
    const ended = await happen(api.log, job, [
      jobStarted(),
      recipientSent(),
      jobCompleted({ counts: counts({ total: 1, sent: 1 }) }),
    ]);
    const { status, headers, body } = await answered;
    expect(status).to.equal(201);
    expect(headers.get("Event-Sequence")).to.equal(String(ended));
    expect(headers.get("Preference-Applied")).to.equal("wait=30");
    expect(headers.get("Location")).to.equal(`/api/jobs/${job.jobId}`);
    expect(body).to.deep.include({ jobId: job.jobId, id: job.jobId, status: "completed", duplicates: 0 });
    expect(body.progress).to.include({ total: 1, sent: 1, pending: 0 });
    expect(body.completedAt).to.equal(body.createdAt);
  });

  it("is answered when its time is up, with the job as it stands", async () => {
    const { status, headers, body } = await create('respond-async, Wait="0"; strictly=no');
    expect({ status, applied: headers.get("Preference-Applied") }).to.deep.equal({ status: 201, applied: "wait=0" });
    expect(body).to.deep.include({ status: "queued", completedAt: null });
  });

  it("is measured without the time that it was to wait, like a page of events that was to", async () => {
    const took: number[] = [];
    const other = await startApi({ served: ({ ms }) => took.push(ms) });
    await other.ask("POST", "/api/jobs", { body: mailing, headers: { Prefer: "wait=1" } });
    await other.ask("GET", "/api/events?types=JobFailed&wait=1");
    await other.close();
    expect(took).to.have.length(2);
    expect(Math.max(...took)).to.be.below(900);
  });

  for (const preference of [
    "wait",
    "wait=",
    "wait=-1",
    "wait=1.5",
    "wait=61",
    "wait=soon",
    "handling=lenient",
    "=,;",
  ]) {
    it(`is answered at once where it says ${preference}, which is impossible`, async () => {
      const { status, headers, body } = await create(preference);
      expect({ status, applied: headers.get("Preference-Applied") }).to.deep.equal({ status: 201, applied: null });
      expect(body).not.to.have.property("progress");
    });
  }

  it("leaves nothing behind where the client does not wait so long", async () => {
    const going = new AbortController();
    const headers = { "Content-Type": "application/json", Prefer: "wait=60" };
    const body = JSON.stringify(mailing);
    const asked = fetch(`${api.url}/api/jobs`, { method: "POST", headers, body, signal: going.signal });
    asked.catch(() => {});
    await eventually(() => expect(live.listeners()).to.equal(1));
    going.abort();
    await eventually(() => expect(live.listeners()).to.equal(0));
  });

  it("is answered at once when the service is about to stop", async () => {
    const other = await startApi();
    const answered = other.ask("POST", "/api/jobs", { body: mailing, headers: { Prefer: "wait=60" } });
    await eventually(async () => expect((await other.log.state()).lastSequence).to.equal(1));
    await other.close();
    expect(await answered).to.include({ status: 201 });
  });

  it("is accepted all the same where the log cannot be watched", async () => {
    const log = createMemoryEventLog();
    const away = async (): Promise<never> => {
      throw new Unavailable("There is no connection to NATS.");
    };
    const deaf = await startApi({ log: { ...log, state: away } });
    const { status, headers, body } = await deaf.ask("POST", "/api/jobs", {
      body: mailing,
      headers: { Prefer: "wait=30" },
    });
    expect({ status, applied: headers.get("Preference-Applied") }).to.deep.equal({ status: 201, applied: null });
    expect(body).to.include({ status: "pending" });
    await deaf.close();
  });
});
