import { expect } from "chai";
import { createOpenJobs } from "../../src/archive/open-jobs.ts";
import { counts, now } from "../support/examples.ts";
import { decide, draftMailing, importInto, people } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A mailing, when the log is archived", () => {
  it("holds back its first event while it is a draft and while it goes on, and nothing once it has ended", async () => {
    const stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
    const mailing = await draftMailing(stored);
    const left = async () => {
      const open = createOpenJobs(1, false);
      for (const event of await stored.log.readMailing(mailing)) open.take(event);
      return open.left().map(({ sequence, why }) => [sequence, why]);
    };
    await importInto(stored, mailing, people(1));
    expect(await left()).to.deep.equal([[1, "it is a draft"]]);
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    expect(await left()).to.deep.equal([[1, "it has not ended"]]);
    await decide(stored, mailing, { type: "PauseMailing", at: now, reason: null });
    expect(await left()).to.deep.equal([[1, "it is paused"]]);
    const parts = [{ part: 0, result: "completed" as const, counts: counts({ total: 1, sent: 1 }) }];
    await decide(stored, mailing, { type: "EndParts", at: now, parts, retries: 0 });
    expect(await left()).to.deep.equal([]);
  });
});
