import { expect } from "chai";
import type { Listener, Tail } from "../../../src/history/live/tail.ts";
import { watchJob } from "../../../src/history/live/watch-job.ts";
import { jobCreated, jobStarted, recipientSent } from "../../support/examples.ts";
import { happen, newJob } from "../../support/happen.ts";
import { createMemoryContentStore } from "../../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

describe("A job that is watched", () => {
  it("is not told again what its history had, where the tail hears of it later", async () => {
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
    const seen = await happen(log, job, [jobCreated(), jobStarted(), recipientSent()]);
    const parts = { log, contentStore: createMemoryContentStore(), tail };
    const watch = await watchJob(parts, job, seen, new AbortController().signal);
    for (const stored of await log.readHistory(job)) (listener as Listener | null)?.hear(stored);
    expect([watch?.hasStatus(), watch?.hasProgress()]).to.deep.equal([false, false]);
    const last = await happen(log, job, [recipientSent({ recipient: 1 })]);
    for (const stored of await log.readHistory(job)) (listener as Listener | null)?.hear(stored);
    expect(watch?.takeProgress()?.sequence).to.equal(last);
    watch?.leave();
  });
});
