import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { findBoundary } from "../../src/archive/find-boundary.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { jobCompleted, jobCreated, jobRetried } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("Jobs that were opened again, when the log is archived", () => {
  it("are looked for a few at a time, and once, however many there are", async () => {
    const log = createMemoryEventLog();
    for (let jobs = 0; jobs < 200; jobs += 1) await happen(log, newJob(), [jobCreated(), jobCompleted(), jobRetried()]);
    let [looks, atOnce, most] = [0, 0, 0];
    const firstDecision = async (job: JobRef): Promise<number> => {
      looks += 1;
      atOnce += 1;
      most = Math.max(most, atOnce);
      await pause(1);
      atOnce -= 1;
      return (await log.readDecisions(job))[0]?.sequence ?? 0;
    };
    const sealedLog = { messages: async function* () {}, isPassed: async () => false };
    const ports = { log, sealedLog, storedLog: { firstDecision, readers: async () => [] } };
    const settings = { before: new Date(), areErased: false, onProgress: () => {} };
    const { held } = await findBoundary(ports, { first: 1, to: 12 }, settings);
    for (let times = 0; times < 2; times += 1) {
      expect((await held()).map(({ sequence }) => sequence)).to.deep.equal([1, 4, 7, 10]);
    }
    expect(most).to.be.at.most(32);
    expect(looks).to.equal(200);
  });
});
