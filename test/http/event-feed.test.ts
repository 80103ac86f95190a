import { expect } from "chai";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { createLive, type Live } from "../../src/history/live/live.ts";
import { openStream, readToEnd, readUntil } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { jobCompleted, jobCreated, jobStarted, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type Answered, type RunningApi, startApi } from "../support/running-api.ts";

type Told = { readonly sequence: number; readonly type: string };

describe("The feed of a tenant's events", () => {
  let api: RunningApi;
  let live: Live;
  let job: JobRef;
  /** How often yet the log says that it ends where it began, as a new leader may. */
  let late = 0;

  /** Sequences 1 and 3 to 7 are ours. */
  before(async () => {
    const memory = createMemoryEventLog();
    const log: EventLog = {
      ...memory,
      state: async () => {
        const state = await memory.state();
        late -= 1;
        return late >= 0 ? { ...state, lastSequence: 1 } : state;
      },
    };
    const contentStore = createMemoryContentStore();
    live = createLive({ log, contentStore, report: () => {} });
    api = await startApi({ log, contentStore, live });
    job = newJob();
    await happen(log, job, [jobCreated()]);
    await happen(log, newJob("acme"), [jobCreated()]);
    const sent = [0, 1, 2].map((recipient) => recipientSent({ recipient }));
    await happen(log, job, [jobStarted(), ...sent, jobCompleted()]);
  });
  after(() => api.close());
  afterEach(() => eventually(() => expect([live.listeners(), live.streams.count()]).to.deep.equal([0, 0])));

  const ask = (query: string, headers: Record<string, string> = {}): Promise<Answered> =>
    api.ask("GET", `/api/events${query}`, { headers });
  const open = (query: string, headers: Record<string, string> = {}) =>
    openStream(`${api.url}/api/events${query}`, headers);
  const sequences = ({ body }: Answered): readonly number[] => body.data.map(({ sequence }: Told) => sequence);
  const ours = [1, 3, 4, 5, 6, 7];

  it("is all of them in the order of the log, as the job's own history has them", async () => {
    const { body } = await ask("");
    expect(body.data).to.deep.equal((await api.ask("GET", `/api/jobs/${job.jobId}/events`)).body);
    expect(body).to.include({ nextCursor: "7", hasMore: false });
  });

  it("is paged by its cursor, each event once", async () => {
    const read: number[] = [];
    let cursor = "0";
    for (let page = await ask("?limit=4"); ; page = await ask(`?limit=4&after=${cursor}`)) {
      read.push(...sequences(page));
      cursor = page.body.nextCursor;
      if (!page.body.hasMore) break;
    }
    expect(read).to.deep.equal(ours);
  });

  it("goes on from where a client was, though a new leader of the log has not come as far yet", async () => {
    late = 2;
    const { status, body } = await ask("?after=4");
    expect([status, body.data?.length]).to.deep.equal([200, 3]);
  });

  it("has more where a page ends in the middle, and no more where it ends with the log", async () => {
    expect((await ask("?limit=5")).body).to.include({ nextCursor: "6.0", hasMore: true });
    expect((await ask("?limit=6")).body).to.include({ nextCursor: "7.0", hasMore: false });
    expect((await ask("?after=7")).body).to.deep.equal({ data: [], nextCursor: "7", hasMore: false });
  });

  it("is of some types where they are named, and the cursor passes over the others", async () => {
    const { body } = await ask("?types=JobCreated,JobStarted");
    expect(body.data.map(({ type }: Told) => type)).to.deep.equal(["JobCreated", "JobStarted"]);
    expect(body.nextCursor).to.equal("7");
  });

  it("waits for the next event where it is asked to", async () => {
    const { lastSequence } = await api.log.state();
    const asked = ask(`?after=${lastSequence}&wait=30`);
    await eventually(() => expect(live.listeners()).to.equal(1));
    await happen(api.log, newJob("acme"), [jobCreated()]);
    const last = await happen(api.log, newJob(), [jobCreated()]);
    const answered = await asked;
    expect(sequences(answered)).to.deep.equal([last]);
    expect(answered.body.nextCursor).to.equal(String(last));
  });

  it("is answered empty when nothing has come within the time", async () => {
    const { lastSequence } = await api.log.state();
    const { body } = await ask(`?after=${lastSequence}&wait=1`);
    expect(body).to.deep.equal({ data: [], nextCursor: String(lastSequence), hasMore: false });
  });

  it("is lines of JSON where they are accepted, up to the end of the log where it says not to wait", async () => {
    const url = `${api.url}/api/events?wait=0&after=3&types=RecipientSent`;
    const response = await fetch(url, { headers: { Accept: "application/x-ndjson" } });
    expect(response.headers.get("Content-Type")).to.equal("application/x-ndjson");
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, 3).map(({ sequence }: Told) => sequence)).to.deep.equal([4, 5, 6]);
  });

  it("goes on as a stream of events, and from where the client was when it comes again", async () => {
    const first = await readUntil(await open("?after=1"), (read) => read.length === 2);
    expect(first.map(({ event, id }) => [event, id])).to.deep.equal([
      ["JobStarted", 3],
      ["RecipientSent", 4],
    ]);
    const stream = await open("?after=1", { "Last-Event-ID": "4" });
    const { lastSequence } = await api.log.state();
    const second = readUntil(stream, (read) => (read.at(-1)?.id ?? 0) > lastSequence);
    const last = await happen(api.log, newJob(), [jobCreated()]);
    const ids = (await second).map(({ id }) => id);
    expect(ids.slice(0, 3)).to.deep.equal([5, 6, 7]);
    expect(ids.at(-1)).to.equal(last);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it("ends as a stream after so many events as were asked for", async () => {
    const events = await readToEnd(await open("?limit=3"));
    expect(events.map(({ id }) => id)).to.deep.equal([1, 3, 4]);
    expect(events[0]?.data).to.deep.equal((await ask("?limit=1")).body.data[0]);
  });

  const nonsense = [
    "?after=-1",
    "?after=abc",
    "?after=1e3",
    "?after=999999",
    "?after=99999999999999999999",
    "?after=1&after=2",
    "?limit=0",
    "?limit=1001",
    "?types=",
    "?types=JobCreated,Nothing",
    "?wait=61",
    "?wait=-1",
    "?tenant=acme",
  ];
  for (const query of nonsense) {
    it(`is refused for ${query}, in whatever form`, async () => {
      const name = /\?(\w+)/.exec(query)?.[1];
      const forms = ["application/json", "application/x-ndjson", "text/event-stream"];
      for (const { status, body } of await Promise.all(forms.map((Accept) => ask(query, { Accept })))) {
        expect({ status, pointer: body.errors?.[0].pointer }).to.deep.equal({ status: 400, pointer: `?${name}` });
      }
    });
  }

  it("is refused for a Last-Event-ID that was never sent", async () => {
    for (const id of ["abc", "-1", "999999", "99999999999999999999"]) {
      const { status, body } = await ask("", { Accept: "text/event-stream", "Last-Event-ID": id });
      expect({ status, pointer: body.errors?.[0].pointer }).to.deep.equal({ status: 400, pointer: "Last-Event-ID" });
    }
  });

  it("is refused where it begins in a file of the archive that is not at hand", async () => {
    const log: EventLog = {
      ...api.log,
      follow: async function* (options) {
        if (options.afterSequence === 0) throw new Archived("log-1.waybill", "there is no such file");
        yield* api.log.follow(options);
      },
    };
    const { contentStore } = api;
    const itsLive = createLive({ log, contentStore, report: () => {} });
    const other = await startApi({ log, contentStore, live: itsLive });
    for (const Accept of ["application/json", "application/x-ndjson", "text/event-stream"]) {
      const { status, body } = await other.ask("GET", "/api/events", { headers: { Accept } });
      expect({ Accept, status, code: body.code }).to.deep.equal({ Accept, status: 410, code: "archived" });
    }
    await eventually(() => expect([itsLive.listeners(), itsLive.streams.count()]).to.deep.equal([0, 0]));
    await other.close();
  });

  it("is offered in three forms and no other", async () => {
    expect((await ask("", { Accept: "text/html" })).status).to.equal(406);
    expect((await ask("?limit=1", { Accept: "*/*" })).headers.get("Content-Type")).to.equal("application/json");
  });

  it("ends at once when the service is about to stop", async () => {
    const log = createMemoryEventLog();
    const contentStore = createMemoryContentStore();
    const itsLive = createLive({ log, contentStore, report: () => {} });
    const other = await startApi({ log, contentStore, live: itsLive });
    const stream = await openStream(`${other.url}/api/events`);
    const events = readToEnd(stream);
    const waiting = other.ask("GET", "/api/events?wait=60");
    await eventually(() => expect(itsLive.listeners()).to.equal(2));
    await other.close();
    expect((await waiting).body.data).to.deep.equal([]);
    expect(await events).to.deep.equal([]);
  });

  for (const accepted of ["application/x-ndjson", "text/event-stream"]) {
    it(`breaks the connection where the service stops before the end of a feed that has one: ${accepted}`, async () => {
      const log = createMemoryEventLog();
      const contentStore = createMemoryContentStore();
      const itsLive = createLive({ log, contentStore, report: () => {} });
      const other = await startApi({ log, contentStore, live: itsLive });
      await happen(log, newJob(), [jobCreated()]);
      const response = await fetch(`${other.url}/api/events?wait=60`, { headers: { Accept: accepted } });
      const text = failureOf(response.text());
      await eventually(() => expect(itsLive.listeners()).to.equal(1));
      await other.close();
      expect((await text).message).to.equal("terminated");
      expect(other.logged.filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
    });
  }
});
