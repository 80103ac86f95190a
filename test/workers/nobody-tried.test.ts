import { expect } from "chai";
import { cell } from "../../src/domain/recipients/ledger.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createBookkeeper, createUnwritten } from "../../src/workers/bookkeeper.ts";
import type { HoldingBack } from "../../src/workers/holding-back.ts";
import { serveRecipients } from "../../src/workers/serve-recipients.ts";
import type { Served, Serving } from "../../src/workers/serving.ts";
import { shareTurn } from "../../src/workers/shared-turn.ts";
import type { HeldTurn } from "../../src/workers/turn.ts";
import { job, jobCreated, jobRetryScheduled, jobStarted, now, recipientDeferred } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { holdTurn, lastingLease } from "../support/held-turn.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const sent: Served = { messageId: "m", outcome: { kind: "sent", response: "250" } };
const error = { code: "connection-refused", message: "away", replyCode: null, statusCode: null } as const;
const unavailable: Served = { messageId: "m", outcome: { kind: "unavailable", error } };

describe("recipients that nobody has tried", () => {
  let log: EventLog;
  let stopping: AbortController;
  const never = new AbortController().signal;

  beforeEach(() => {
    log = createMemoryEventLog();
    stopping = new AbortController();
  });

  const serve = (held: HeldTurn, serving: Omit<Serving, "stopping">, lease = lastingLease) => {
    const signals = { claiming: stopping.signal, giveUp: never };
    const books = createBookkeeper(log, held, () => now, createUnwritten(10), signals);
    return serveRecipients(held, lease, books, { ...serving, stopping: stopping.signal });
  };

  /** The receiver of recipient 0 has asked for more patience than there is. */
  const slow: HoldingBack = {
    isFree: () => false,
    receiverOf: (recipient) => (recipient === 0 ? "slow.example" : "fast.example"),
    waitMs: () => 0,
    admit: (receiver) => (receiver === "slow.example" ? 600_000 : null),
    leave: () => {},
    returnInMs: () => 600_000,
    stay: () => () => {},
  };
  const lastMails: Record<string, (mayStill: () => Promise<boolean>) => Promise<Served | null>> = {
    "as the mail server went away": async () => unavailable,
    "as the worker is to stop": async (mayStill) => {
      stopping.abort();
      return (await mayStill()) ? sent : null;
    },
  };
  for (const [why, last] of Object.entries(lastMails)) {
    it(`keep the attempt open ${why}, though others have waited for as long as they may`, async () => {
      await happen(log, job, [jobCreated(), jobStarted()]);
      const held = await holdTurn(log, 3, { putOff: 9, putOffUntil: "2026-01-01T00:00:00.000Z" });
      const end = await serve(held, {
        window: () => 4,
        claimsAtOnce: 4,
        serve: async (recipient, mayStill) => (recipient < 2 ? sent : await last(mayStill)),
        holdingBack: slow,
      });
      expect(end.kind).to.not.equal("completed");
    });
  }

  it("are left alone where the worker was told to stop while it asked for its lease", async () => {
    await happen(log, job, [jobCreated(), jobStarted()]);
    const confirmLately = async (): Promise<boolean> => {
      // Once before the claim, and once before the mail.
      if ((await log.readRecipients(job)).length > 0) stopping.abort();
      return true;
    };
    const serving = { window: () => 1, serve: async () => expect.fail("It was served.") };
    const held = await holdTurn(log, 3);
    const end = await serve(held, serving, { ...lastingLease, confirmLately });
    expect(end.kind).to.equal("interrupted");
    const { cells } = await held.readLedger();
    expect(cells.every((value) => value === cell.pending)).to.equal(true);
  });

  it("use up no attempt where a helper that is to stop gives them back", async () => {
    const total = 60;
    const deferred = Array.from({ length: total }, (_, recipient) => recipientDeferred({ recipient }));
    const before = [jobCreated({ total }), jobStarted(), ...deferred, jobRetryScheduled()];
    await happen(log, job, [...before, jobStarted({ attempt: 2 })]);
    const own = await holdTurn(log, total, { turn: { run: 1, attempt: 2 } });
    const shared = shareTurn(own, lastingLease, {
      probe: { answerFor: () => () => {}, ask: async () => "running" },
      leastOfGroup: 10,
      mostOfGroup: () => 1000,
      claimed: () => {},
      stopping: stopping.signal,
      giveUp: never,
    });
    const help = { ...job, helper: "helper", help: "helper.1" };
    let granted: readonly number[] = [];
    let served = 0;
    // The processes are told to stop once the holder has served its own and waits for the helper.
    const stop = (): void => {
      stopping.abort();
      const done = { kind: "done", ...help, parts: 1, notServed: granted, isClean: true } as const;
      // Later than the holder waits for more recipients.
      setTimeout(() => shared.answer(done), 1300);
    };
    const end = await serve(
      { ...own, supply: shared },
      {
        window: () => 1,
        serve: async () => {
          if (served === 0) granted = shared.answer({ kind: "more", ...help, part: 0 }).recipients;
          served += 1;
          if (served === total - granted.length) setTimeout(stop, 50);
          return sent;
        },
      },
    );
    const { cells } = await own.readLedger();
    expect(granted).to.not.deep.equal([]);
    expect(granted.every((recipient) => cells[recipient] === cell.deferred)).to.equal(true);
    expect(end.kind).to.equal("interrupted");
  });
});
