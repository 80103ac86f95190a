import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { jobStarted, now, recipientSent } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { startApi } from "../support/running-api.ts";

/** As many as are open at a time, and as many that are no jobs yet. */
const partCount = 24;

describe(`A mailing of ${2 * partCount} parts without a read model, while NATS takes a tenth of a second for each history`, () => {
  it("is answered in the time of a request, with what all its open parts have done", async () => {
    const memory = createMemoryEventLog();
    const stored = { log: memory, contentStore: createMemoryContentStore() };
    const mailing = await draftMailing(stored);
    for (let part = 0; part < 2 * partCount; part += 1) await importInto(stored, mailing, people(2, part * 2));
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const state = await stateOf(stored, mailing);
    const room = { isLeftForJobs: async () => true };
    for (let part = 0; part < partCount; part += 1) {
      const { ref } = await createPart({ ...stored, room }, mailing, state, part, cause);
      await happen(memory, ref, [jobStarted(), recipientSent()]);
    }
    const asked: string[] = [];
    const log: EventLog = {
      ...memory,
      readHistory: async (job) => {
        asked.push(job.jobId);
        await pause(100);
        return await memory.readHistory(job);
      },
    };
    const api = await startApi({ ...stored, log });
    try {
      const { status, body } = await api.ask("GET", `/api/mailings/${mailing.jobId}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.progress).to.include({ sent: partCount, total: 4 * partCount });
      expect(body).to.include({ partsMade: partCount });
      expect(asked.length).to.be.lessThan(2 * partCount);
    } finally {
      await api.close();
    }
  });
});
