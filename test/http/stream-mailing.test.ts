import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createLive, type Live } from "../../src/history/live/live.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { openStream, readToEnd, readUntil, type StreamEvent } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { jobCompleted, jobStarted, now, recipientSent, recipientUnsubscribed } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const statusesOf = (events: readonly StreamEvent[]): readonly string[] =>
  events.filter(({ event }) => event === "status").map(({ data }) => data.status);

const start = { type: "StartMailing", at: now, scheduledAt: null } as const;
const room = { isLeftForJobs: async () => true };

describe("The stream of a mailing", () => {
  let api: RunningApi;
  let live: Live;

  beforeEach(async () => {
    const log = createMemoryEventLog();
    const contentStore = createMemoryContentStore();
    live = createLive({ log, contentStore, report: () => {} });
    api = await startApi({ log, contentStore, live });
  });
  afterEach(async () => {
    await eventually(() => expect([live.listeners(), live.streams.count()]).to.deep.equal([0, 0]));
    await api.close();
  });

  const open = ({ jobId }: JobRef, headers: Record<string, string> = {}) =>
    openStream(`${api.url}/api/mailings/${jobId}/stream`, headers);
  const makePart = async (mailing: JobRef, part: number): Promise<JobRef> =>
    (await createPart({ ...api, room }, mailing, await stateOf(api, mailing), part, cause)).ref;
  const endPart = async (mailing: JobRef, part: number, total: number): Promise<void> => {
    const counts = { total, sent: total, failed: 0, pending: 0, deferred: 0, unknown: 0, suppressed: 0 };
    await decide(api, mailing, {
      type: "EndParts",
      at: now,
      parts: [{ part, result: "completed", counts }],
      retries: 0,
    });
  };
  const isListened = () => eventually(() => expect(live.listeners()).to.equal(1));
  const sent = (...recipients: readonly number[]) => recipients.map((recipient) => recipientSent({ recipient }));
  /** Of two parts, of 3 and of 2 recipients. */
  async function draft(): Promise<JobRef> {
    const mailing = await draftMailing(api);
    await importInto(api, mailing, people(3));
    await importInto(api, mailing, people(2, 10));
    return mailing;
  }

  it("begins with the mailing as GET shows it, tells each change of its status, and ends with it", async () => {
    const mailing = await draft();
    const stream = await open(mailing);
    const read = readToEnd(stream);
    await isListened();
    const { body } = await api.ask("GET", `/api/mailings/${mailing.jobId}`);
    await decide(api, mailing, start);
    const first = await makePart(mailing, 0);
    await happen(api.log, first, [jobStarted(), ...sent(0, 1, 2), jobCompleted()]);
    await decide(api, mailing, { type: "PauseMailing", at: now, reason: null });
    await decide(api, mailing, { type: "ResumeMailing", at: now, reason: null });
    await endPart(mailing, 0, 3);
    const second = await makePart(mailing, 1);
    await happen(api.log, second, [jobStarted(), ...sent(0, 1), jobCompleted()]);
    await endPart(mailing, 1, 2);
    const events = await read;
    expect(stream.headers.get("Content-Type")).to.equal("text/event-stream");
    expect(events[0]).to.deep.include({ event: "status", data: body });
    expect(statusesOf(events)).to.deep.equal(["draft", "processing", "paused", "processing", "completed"]);
    expect(events.at(-1)?.data).to.deep.include({ completedAt: now, partsMade: 2 });
    expect(events.at(-1)?.data.progress).to.include({ total: 5, sent: 5, pending: 0 });
    expect(events.at(-1)?.data).to.deep.equal((await api.ask("GET", `/api/mailings/${mailing.jobId}`)).body);
    const ids = events.map(({ id }) => id);
    expect(ids).to.deep.equal(ids.toSorted((one, other) => one - other));
  });

  it("begins in the middle with what the parts have done so far, and counts on, a few times a second", async () => {
    const mailing = await draft();
    await decide(api, mailing, start);
    const first = await makePart(mailing, 0);
    await happen(api.log, first, [jobStarted(), ...sent(0)]);
    const stream = await open(mailing);
    const began = performance.now();
    const read = readUntil(stream, (events) => events.at(-1)?.data.progress.sent === 4);
    await isListened();
    const second = await makePart(mailing, 1);
    await happen(api.log, second, [jobStarted()]);
    for (const [job, recipient] of [
      [first, 1],
      [second, 0],
      [first, 2],
    ] as const) {
      await happen(api.log, job, sent(recipient));
    }
    const events = await read;
    expect(events[0]).to.deep.include({ event: "status" });
    expect(events[0]?.data.progress).to.include({ total: 5, sent: 1, pending: 4 });
    expect(events.at(-1)).to.include({ event: "progress", id: (await api.log.state()).lastSequence });
    const frames = Math.floor((performance.now() - began) / 250) + 2;
    expect(events.filter(({ event }) => event === "progress").length).to.be.at.most(frames);
  });

  it("is scheduled until work on a part has begun", async () => {
    const mailing = await draft();
    await decide(api, mailing, { ...start, scheduledAt: "2999-01-01T00:00:00.000Z" });
    const read = readUntil(await open(mailing), (events) => statusesOf(events).length === 2);
    await isListened();
    await happen(api.log, await makePart(mailing, 0), [jobStarted()]);
    expect(statusesOf(await read)).to.deep.equal(["scheduled", "processing"]);
  });

  it("goes on with the present state where a client was cut off, and tells one that has seen the end to stay away", async () => {
    const mailing = await draft();
    await decide(api, mailing, start);
    const { lastSequence: seen } = await api.log.state();
    const quiet = await open(mailing, { "Last-Event-ID": String(seen) });
    const read = readToEnd(quiet);
    await isListened();
    await decide(api, mailing, { type: "CancelMailing", at: now, reason: null });
    // There was nothing new to begin with.
    expect(statusesOf(await read)).to.deep.equal(["cancelled"]);
    const late = await readToEnd(await open(mailing, { "Last-Event-ID": String(seen) }));
    expect(statusesOf(late)).to.deep.equal(["cancelled"]);
    const { lastSequence: end } = await api.log.state();
    expect((await open(mailing, { "Last-Event-ID": String(end) })).status).to.equal(204);
    expect((await open(mailing, { "Last-Event-ID": String(end + 1) })).status).to.equal(400);
    expect((await open(mailing, { "Last-Event-ID": "x" })).status).to.equal(400);
  });

  it("goes on from the last id that it has sent, though a part that has ended had news that it does not show", async () => {
    const mailing = await draft();
    await decide(api, mailing, start);
    const first = await makePart(mailing, 0);
    await happen(api.log, first, [jobStarted(), ...sent(0, 1, 2), jobCompleted()]);
    await endPart(mailing, 0, 3);
    const second = await makePart(mailing, 1);
    await happen(api.log, second, [jobStarted()]);
    const read = readUntil(await open(mailing), (events) => events.at(-1)?.data.progress.sent === 5);
    await isListened();
    await happen(api.log, second, sent(0));
    await happen(api.log, second, sent(1));
    await happen(api.log, first, [recipientUnsubscribed({ recipient: 0 })]);
    const id = (await read).at(-1)?.id;
    const again = await open(mailing, { "Last-Event-ID": String(id) });
    again.close();
    expect(again.status).to.equal(200);
  });

  it("misses nothing that happens while it reads what was before", async () => {
    const { contentStore } = api;
    const inner = createMemoryEventLog();
    let whileReading = async (): Promise<void> => {};
    const readHistory = async (job: JobRef) => {
      const history = await inner.readHistory(job);
      await whileReading();
      return history;
    };
    const slow = createLive({ log: { ...inner, readHistory }, contentStore, report: () => {} });
    const side = { log: inner, contentStore };
    const mailing = await draftMailing(side);
    await importInto(side, mailing, people(3));
    await decide(side, mailing, start);
    const { ref } = await createPart({ ...side, room }, mailing, await stateOf(side, mailing), 0, cause);
    whileReading = async () => {
      whileReading = async () => {};
      await happen(inner, ref, [jobStarted(), ...sent(0, 1)]);
    };
    const watching = new AbortController();
    const watch = await slow.watchMailing(mailing, null, watching.signal);
    await eventually(() => expect(watch?.now()?.mailing.progress).to.include({ sent: 2, pending: 1 }));
    watching.abort();
    slow.close();
  });

  it("is there for the mailing's own tenant only", async () => {
    const other = await draftMailing(api, "acme");
    const { status } = await open(other);
    expect(status).to.equal(404);
    expect((await open({ tenant: "default", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" })).status).to.equal(404);
  });
});
