import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { UndecodableEvent, VersionConflict } from "../../src/event-log/log-failures.ts";
import { counts, job, jobCreated, jobReleased, jobStarted } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen } from "../support/happen.ts";
import { justWork } from "../support/just-work.ts";
import { deliverTurn, runAlone } from "../support/lone-worker.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("a worker at a job of which only a newer release can read everything", () => {
  let memory: EventLog;

  beforeEach(async () => {
    memory = createMemoryEventLog();
    await happen(memory, job, [jobCreated()]);
  });

  const work = justWork("email.send", async () => ({ kind: "completed", counts: counts({ sent: 3 }) }));
  const types = async () => (await memory.readDecisions(job)).map(({ event }) => event.type);

  it("leaves no lease behind, which would count as a takeover, where it cannot read what became of the recipients", async () => {
    await happen(memory, job, [jobStarted(), jobReleased()]);
    const undecodable = new UndecodableEvent(4, "RecipientSent has the version 2", true);
    const log = { ...memory, readRecipients: () => Promise.reject(undecodable) };
    expect(await failureOf(runAlone(await deliverTurn(memory, 2), log, work))).to.equal(undecodable);
    expect(await types()).to.deep.equal(["JobCreated", "JobStarted", "JobReleased"]);
  });

  it("leaves it to others for a while where it cannot read what was decided last", async () => {
    const log = { ...memory, append: () => Promise.reject(new VersionConflict("Something else is the last.")) };
    const waits: number[] = [];
    const giveBack = (afterMs: number): void => void waits.push(afterMs);
    await runAlone({ ...(await deliverTurn(memory)), giveBack }, log, work);
    expect(waits).to.deep.equal([10_000]);
  });

  it("looks at it again soon where another decision was a moment faster", async () => {
    const overtaken: EventLog["append"] = async (...given) => {
      await happen(memory, job, [jobStarted({ worker: "worker-2" })]);
      return await memory.append(...given);
    };
    const waits: number[] = [];
    const giveBack = (afterMs: number): void => void waits.push(afterMs);
    await runAlone({ ...(await deliverTurn(memory)), giveBack }, { ...memory, append: overtaken }, work);
    expect(waits).to.deep.equal([500]);
  });
});
