import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { counts, job, jobCreated } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { justWork } from "../support/just-work.ts";
import { deliverTurn, runAlone } from "../support/lone-worker.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("a job that is not to start after a time at which the log is away", () => {
  let memory: EventLog;
  let notAfterMs: number;

  beforeEach(async () => {
    memory = createMemoryEventLog();
    notAfterMs = Date.now() + 150;
    await happen(memory, job, [jobCreated({ notAfter: new Date(notAfterMs).toISOString() })]);
  });

  /** The log answers no append until the time is over; `isStored` says whether it stores the first all the same. */
  const runWhileAway = async (isStored: boolean): Promise<void> => {
    let appends = 0;
    const append: EventLog["append"] = async (...given) => {
      appends += 1;
      if (Date.now() > notAfterMs) return await memory.append(...given);
      if (isStored && appends === 1) await memory.append(...given);
      throw new Unavailable("The log is away.");
    };
    const work = justWork("email.send", async () => ({ kind: "completed", counts: counts({ sent: 3 }) }));
    await runAlone(await deliverTurn(memory), { ...memory, append }, work);
  };
  const types = async () => (await memory.readDecisions(job)).map(({ event }) => event.type);

  it("expires", async () => {
    await runWhileAway(false);
    expect(await types()).to.deep.equal(["JobCreated", "JobFailed"]);
  });

  it("goes on where it was started in time, and only the answer was lost", async () => {
    await runWhileAway(true);
    expect(await types()).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
  });
});
