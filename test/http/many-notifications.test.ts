import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { caused, jobCompleted, jobCreated, now } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { startApi } from "../support/running-api.ts";

describe("A thousand notifications, while each answer of NATS takes some milliseconds", () => {
  it("are marked as read call by call: each marks what it can in its time, and says that there are more", async () => {
    const memory = createMemoryEventLog();
    const late =
      <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
      async (...given: Given): Promise<Answer> => {
        await pause(5);
        return await ask(...given);
      };
    const log: EventLog = {
      ...memory,
      readDecisions: late(memory.readDecisions),
      readNotices: late(memory.readNotices),
      record: late(memory.record),
    };
    const jobs = Array.from({ length: 1000 }, () => newJob());
    for (const job of jobs) {
      await memory.append(job, [{ ...caused(uuid(), jobCreated()), actor: "anonymous" }], 0);
      await memory.append(job, [caused(uuid(), jobCompleted())], await memory.lastDecision(job));
    }
    /** As the read model lists them, which does not know yet what was marked. */
    const list = async (
      _tenant: string,
      _actor: string,
      { cursor, limit }: { cursor: number | null; limit: number },
    ) => {
      const from = cursor ?? 0;
      const page = jobs.slice(from, from + limit).map(({ jobId }, index) => {
        return { jobId, run: 1, sequence: from + index, type: "job.completed", progress: null, createdAt: now };
      });
      return { notifications: page, nextCursor: from + limit < jobs.length ? String(from + limit) : null };
    };
    const api = await startApi({
      log,
      readPosition: { waitFor: async () => true } as never,
      notifications: { list } as never,
    });
    try {
      const { status, body } = await api.ask("POST", "/api/notifications/read");
      expect(status).to.equal(200);
      expect(body.hasMore).to.equal(true);
      expect(body.read).to.be.within(1, 999);
    } finally {
      await api.close();
    }
  });
});
