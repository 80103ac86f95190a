import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { createLive } from "../../src/history/live/live.ts";
import { openStream, readToEnd } from "../support/event-stream.ts";
import { caused, jobCompleted, jobCreated, jobStarted, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

type Placed = { readonly sequence: number; readonly index: number };

describe("The feed of entries that hold several events", () => {
  let api: RunningApi;
  const places = ["1.0", "2.0", "3.0", "3.1", "3.2", "3.3"];

  before(async () => {
    const log = createMemoryEventLog();
    const contentStore = createMemoryContentStore();
    api = await startApi({ log, contentStore, live: createLive({ log, contentStore, report: () => {} }) });
    const job = newJob();
    const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
    const started = await log.append(job, [caused(uuid(), jobStarted())], created);
    const [first, ...others] = [0, 1, 2].map((recipient) => caused(uuid(), recipientSent({ recipient })));
    if (first === undefined) throw new Error("There is no outcome.");
    await log.append(job, [first, ...others, caused(uuid(), jobCompleted())], started);
  });
  after(() => api.close());

  const page = async (query: string) => (await api.ask("GET", `/api/events${query}`)).body;
  const placesIn = (events: readonly Placed[]) => events.map(({ sequence, index }) => `${sequence}.${index}`);

  it("has a cursor at each event, so that pages of any size give each event once", async () => {
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      const read: string[] = [];
      for (let cursor = "0", hasMore = true; hasMore; ) {
        const body = await page(`?limit=${limit}&after=${cursor}`);
        read.push(...placesIn(body.data));
        ({ nextCursor: cursor, hasMore } = body);
      }
      expect(read, `pages of ${limit}`).to.deep.equal(places);
    }
  });

  it("goes on behind the whole entry where only its sequence is named", async () => {
    expect(placesIn((await page("?after=2")).data)).to.deep.equal(places.slice(2));
    expect((await page("?after=3")).data).to.deep.equal([]);
  });

  it("sends each event with an id, from which a client that was cut off in the middle of an entry goes on", async () => {
    const url = `${api.url}/api/events?wait=0`;
    const all = await readToEnd(await openStream(url));
    expect(placesIn(all.map(({ data }) => data))).to.deep.equal(places);
    const rest = await readToEnd(await openStream(url, { "Last-Event-ID": "3.1" }));
    expect(placesIn(rest.map(({ data }) => data))).to.deep.equal(["3.2", "3.3"]);
  });
});
