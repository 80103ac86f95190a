import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { queuedAfter } from "../../src/turns/scheduler/scheduler.ts";
import type { TurnDelivery } from "../../src/turns/work-queue.ts";
import { createUnwritten } from "../../src/workers/bookkeeper.ts";
import { runTurn } from "../../src/workers/run-turn.ts";
import { counts, job, jobCancelled, jobCreated, jobStarted, settings } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { justWork } from "../support/just-work.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A turn of a job that was just created", () => {
  let log: EventLog;
  let reads: number;
  let said: string[];
  let turn: TurnDelivery["turn"];

  beforeEach(async () => {
    const memory = createMemoryEventLog();
    reads = 0;
    said = [];
    log = {
      ...memory,
      readDecisions: (job) => {
        reads += 1;
        return memory.readDecisions(job);
      },
    };
    await happen(memory, job, [jobCreated()]);
    const [created] = await memory.readDecisions(job);
    if (created === undefined) throw new Error("The job was not created");
    turn = queuedAfter(created, { ...settings, run: 1, attempt: 1, opening: 0 });
  });

  const run = (times: number): Promise<void> => {
    const { type, prepare } = justWork(settings.type, async (_held, _lease, books) => {
      await books.settled();
      return { kind: "completed", counts: counts({ sent: 3 }) };
    });
    const delivery: TurnDelivery = {
      turn,
      times,
      putAtMs: 0,
      acknowledge: () => void said.push("acknowledged"),
      keep: () => {},
      giveBack: () => void said.push("given back"),
    };
    return runTurn(delivery, {
      log,
      type,
      prepare,
      probe: { answerFor: () => () => {}, ask: async () => "silent" },
      sharing: null,
      worker: "worker-1",
      retrySchedule: { baseDelayMs: 1, factor: 1, jitter: 0, delaysMs: null },
      unwritten: createUnwritten(1),
      postpone: () => 1,
      stopping: new AbortController().signal,
      giveUp: new AbortController().signal,
    });
  };
  const types = async () => (await log.readDecisions(job)).map(({ event }) => event.type);

  it("is done without a look at its decisions, which it brings", async () => {
    await run(1);
    expect(said).to.deep.equal(["acknowledged"]);
    expect(reads).to.equal(0);
    expect(await types()).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
  });

  it("starts nothing on a lease that the same worker took before, and that broke off: its outcomes were not read", async () => {
    await happen(log, job, [jobStarted({ worker: "worker-1" })]);
    await run(1);
    expect(said).to.deep.equal(["given back"]);
    expect(await types()).to.deep.equal(["JobCreated", "JobStarted"]);
  });

  it("starts nothing where the job was decided about since, and is over once it comes again", async () => {
    await happen(log, job, [jobCancelled()]);
    await run(1);
    expect(said).to.deep.equal(["given back"]);
    await run(2);
    expect(said).to.deep.equal(["given back", "acknowledged"]);
    expect(await types()).to.deep.equal(["JobCreated", "JobCancelled"]);
  });
});
