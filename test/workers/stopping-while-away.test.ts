import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { cell } from "../../src/domain/recipients/ledger.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createUnwritten } from "../../src/workers/bookkeeper.ts";
import type { HelpAnswer, HelpRequest } from "../../src/workers/help.ts";
import { helpWith } from "../../src/workers/help-with.ts";
import type { JobWork } from "../../src/workers/job-work.ts";
import { serveRecipients } from "../../src/workers/serve-recipients.ts";
import type { Served } from "../../src/workers/serving.ts";
import { replayLedger } from "../../src/workers/turn.ts";
import { job, jobCreated, jobStarted } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { justWork } from "../support/just-work.ts";
import { withOutages } from "../support/log-away.ts";
import { deliverTurn, runAlone } from "../support/lone-worker.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const total = 6;
const sent: Served = { messageId: "m", outcome: { kind: "sent", response: "250" } };

describe("a worker that is to stop while the log is away", () => {
  let memory: EventLog;
  let stopping: AbortController;

  beforeEach(async () => {
    memory = createMemoryEventLog();
    stopping = new AbortController();
    await happen(memory, job, [jobCreated({ total, onUnknown: "skip" })]);
  });

  const countOf = async (value: number): Promise<number> => {
    const { cells } = await replayLedger(memory, job, total, await memory.readDecisions(job));
    return cells.filter((found) => found === value).length;
  };

  /** The log goes away while the second recipient waits for a connection, and the worker is told to stop. */
  const workWhileAway = (goAway: (forMs: number) => void): JobWork =>
    justWork("email.send", (held, lease, books, stop) => {
      const serve = async (recipient: number, mayStill: () => Promise<boolean>): Promise<Served | null> => {
        if (recipient === 0) return sent;
        // The outcome of the first is stored.
        await pause(50);
        if (!stopping.signal.aborted) goAway(500);
        stopping.abort();
        return (await mayStill()) ? sent : null;
      };
      return serveRecipients(held, lease, books, { window: () => 4, serve, stopping: stop });
    });

  it("waits for it, and leaves no recipient in doubt that it has not mailed", async () => {
    const { log, goAway } = withOutages(memory);
    await runAlone(await deliverTurn(memory), log, workWhileAway(goAway), { stopping: stopping.signal });
    expect([await countOf(cell.sent), await countOf(cell.claimed)]).to.deep.equal([1, 0]);
  });

  it("does so for those that it helps another worker with, and says that it leaves no claim behind", async () => {
    const { log, goAway } = withOutages(memory);
    const leaseSequence = await happen(memory, job, [jobStarted()]);
    const requests: HelpRequest[] = [];
    const request = async (_worker: string, asked: HelpRequest): Promise<HelpAnswer> => {
      requests.push(asked);
      return { leaseSequence, recipients: requests.length === 1 ? [0, 1, 2, 3, 4, 5] : [] };
    };
    const { prepare } = workWhileAway(goAway);
    await helpWith(
      { ...job, worker: "worker-1" },
      {
        log,
        exchange: { announce: () => {}, onAnnounced: () => () => {}, answerFor: () => () => {}, request },
        worker: "helper",
        connections: { free: () => 4, areWanted: () => false },
        unwritten: createUnwritten(1),
        prepare,
        id: "helper.1",
        stopping: stopping.signal,
        giveUp: new AbortController().signal,
      },
    ).catch(() => {});
    expect(requests.at(-1)).to.include({ kind: "done", isClean: true });
    expect([await countOf(cell.sent), await countOf(cell.claimed)]).to.deep.equal([1, 0]);
  });

  /** The log stores the first decision of the worker, or loses it, and does not answer; the worker is to stop then. */
  const withoutAnswer = (isStored: boolean): EventLog => {
    const append: EventLog["append"] = async (...given) => {
      if (stopping.signal.aborted) return await memory.append(...given);
      if (isStored) await memory.append(...given);
      stopping.abort();
      throw new Unavailable("The log did not answer.");
    };
    return { ...memory, append };
  };
  const startAndStop = async (isStored: boolean, said: string[]): Promise<void> => {
    const prepare: JobWork["prepare"] = async () => ({
      claims: [0, 1, 2, 3],
      work: (held, lease, books, stop) =>
        serveRecipients(held, lease, books, {
          window: () => 4,
          serve: async () => expect.fail("It was served."),
          stopping: stop,
        }),
    });
    const delivery = await deliverTurn(memory, 1, said);
    await runAlone(delivery, withoutAnswer(isStored), { type: "email.send", prepare }, { stopping: stopping.signal });
  };
  const types = async () => (await memory.readDecisions(job)).map(({ event }) => event.type);

  it("gives back its lease and the claims with it where only the answer to its start was lost", async () => {
    const said: string[] = [];
    await startAndStop(true, said);
    expect(await types()).to.deep.equal(["JobCreated", "JobStarted", "JobReleased"]);
    expect(await countOf(cell.pending)).to.equal(total);
    expect(said).to.deep.equal(["given back"]);
  });

  it("starts no job once the log is back", async () => {
    const said: string[] = [];
    await startAndStop(false, said);
    expect(await types()).to.deep.equal(["JobCreated"]);
    expect(said).to.deep.equal(["given back"]);
  });
});
