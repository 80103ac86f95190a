import { expect } from "chai";
import type { EventLog } from "../../../src/event-log/event-log.ts";
import { createTail, type Listener, type Tail } from "../../../src/history/live/tail.ts";
import { type JobWatch, watchJob } from "../../../src/history/live/watch-job.ts";
import { eventually } from "../../support/eventually.ts";
import { jobCompleted, jobCreated, jobStarted, recipientSent, recipientsClaimed } from "../../support/examples.ts";
import { happen, newJob } from "../../support/happen.ts";
import { createMemoryContentStore } from "../../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

describe("A job that is watched", () => {
  const log = createMemoryEventLog();
  const job = newJob();
  let listener: Listener | null = null;
  const tail: Tail = {
    listen: async (_, told) => {
      listener = told;
      return () => {};
    },
    position: () => 0,
    listeners: () => 1,
    close: () => {},
  };
  const hearAll = async (): Promise<void> => {
    for (const stored of await log.readHistory(job)) listener?.hear(stored);
  };
  let watch: JobWatch | null;

  before(async () => {
    const seen = await happen(log, job, [jobCreated(), jobStarted(), recipientSent()]);
    const parts = { log, contentStore: createMemoryContentStore(), tail };
    watch = await watchJob(parts, job, seen, new AbortController().signal);
  });
  after(() => watch?.leave());

  it("is not told again what its history had, where the tail hears of it later", async () => {
    await hearAll();
    expect([watch?.hasStatus(), watch?.hasProgress()]).to.deep.equal([false, false]);
  });

  it("shows an outcome as progress, and no claim", async () => {
    await happen(log, job, [recipientsClaimed({ recipients: [1] })]);
    await hearAll();
    expect(watch?.hasProgress()).to.equal(false);
    const last = await happen(log, job, [recipientSent({ recipient: 1 })]);
    await hearAll();
    expect([watch?.hasStatus(), watch?.takeProgress()?.sequence]).to.deep.equal([false, last]);
  });
});

describe("A job that ended just before it is watched", () => {
  it("is watched to its end, though a new leader does not know that yet, and the tail has told others", async () => {
    const log = createMemoryEventLog();
    const job = newJob();
    const tail = createTail(log, () => {});
    await tail.listen(newJob(), { hear: () => {}, broken: () => {} });
    const end = await happen(log, job, [jobCreated(), jobStarted(), jobCompleted()]);
    await eventually(() => expect(tail.position()).to.equal(end));
    const lagging: EventLog = { ...log, state: async () => ({ ...(await log.state()), lastSequence: end - 1 }) };
    const parts = { log: lagging, contentStore: createMemoryContentStore(), tail };
    const watched = await watchJob(parts, job, null, new AbortController().signal);
    expect(watched?.now()?.job.status).to.equal("completed");
    watched?.leave();
    tail.close();
  });
});
