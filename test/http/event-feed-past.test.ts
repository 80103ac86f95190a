import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createLive, type Live, usualPast } from "../../src/history/live/live.ts";
import { openStream, readUntil } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { recipientSent } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const events = 1200;

describe("The past of a tenant's events, where two read it", () => {
  let api: RunningApi;
  let live: Live;
  let log: EventLog;
  let letRead = (): void => {};

  beforeEach(async () => {
    const whole = createMemoryEventLog();
    const held = new Promise<void>((resolve) => {
      letRead = resolve;
    });
    // What is read from the beginning of the log comes when the test says so.
    log = {
      ...whole,
      follow: async function* (options) {
        if (options.afterSequence < 10) await Promise.race([held, untilAborted(options.signal)]);
        yield* whole.follow(options);
      },
    };
    const contentStore = createMemoryContentStore();
    const past = { ...usualPast, patienceMs: 50, stallMs: 60_000 };
    live = createLive({ log, contentStore, report: () => {}, pastLimits: past });
    api = await startApi({ log, contentStore, live });
    const sent = Array.from({ length: events }, (_, recipient) => recipientSent({ recipient }));
    await happen(log, newJob(), sent);
  });
  afterEach(async () => {
    letRead();
    await api.close();
  });

  const lines = (query: string) => openStream(`${api.url}/api/events${query}`, { Accept: "application/x-ndjson" });
  const stream = (query: string) => openStream(`${api.url}/api/events${query}`);

  for (const [form, Accept] of [
    ["a page", "application/json"],
    ["lines", "application/x-ndjson"],
    ["a stream", "text/event-stream"],
  ] as const) {
    it(`is refused to a third one for now, as ${form}`, async () => {
      const readers = [await lines(""), await stream("?after=3")];
      await eventually(() => expect(live.past.inside()).to.equal(2));
      const { status, headers, body } = await api.ask("GET", "/api/events", { headers: { Accept } });
      expect({ status, code: body.code }).to.deep.equal({ status: 429, code: "too-many-past-readers" });
      expect(headers.get("Retry-After")).to.equal("5");
      for (const { close } of readers) close();
      await eventually(() => expect(live.past.inside()).to.equal(0));
    });
  }

  it("is given to a third one when they are through, and they go on at the head of the log", async () => {
    const readers = [await stream(""), await stream("?after=3")];
    await eventually(() => expect(live.past.inside()).to.equal(2));
    letRead();
    const read = await Promise.all(readers.map((reader) => readUntil(reader, (all) => all.at(-1)?.id === events)));
    expect(read.map(({ length }) => length)).to.deep.equal([events, events - 3]);
    expect((await api.ask("GET", "/api/events?limit=1000")).body.data).to.have.length(1000);
    await eventually(() => expect(live.past.inside()).to.equal(0));
  });

  it("delays no reader at its head", async () => {
    const readers = [await lines(""), await lines("?after=3")];
    await eventually(() => expect(live.past.inside()).to.equal(2));
    expect((await api.ask("GET", `/api/events?after=${events - 100}`)).body.data).to.have.length(100);
    const follower = await stream(`?after=${events}`);
    await happen(log, newJob(), [recipientSent()]);
    const [event] = await readUntil(follower, (all) => all.length === 1);
    expect(event?.id).to.equal(events + 1);
    for (const { close } of readers) close();
  });
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
