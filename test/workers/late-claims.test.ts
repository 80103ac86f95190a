import { expect } from "chai";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createBookkeeper, createUnwritten } from "../../src/workers/bookkeeper.ts";
import { now as at, job, jobCreated, jobStarted } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { holdTurn } from "../support/held-turn.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("a claim that waits for the entry before it, while its worker is frozen for a minute", () => {
  const never = new AbortController().signal;
  let log: EventLog;
  let now = 0;
  beforeEach(() => {
    log = createMemoryEventLog();
    now = 0;
    Object.defineProperty(performance, "now", { configurable: true, value: () => now });
  });
  afterEach(() => {
    Reflect.deleteProperty(performance, "now");
  });

  /** What the log has of the recipients when the worker has woken up. */
  const afterFreeze = async (meanwhile: Parameters<typeof happen>[2]): Promise<string[]> => {
    await happen(log, job, [jobCreated({ total: 3, onUnknown: "skip" }), jobStarted()]);
    const held = await holdTurn(log, 3);
    let answerFirst: () => void = () => {};
    const firstAnswer = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    const record: EventLog["record"] = async (...entry) => {
      const sequence = await log.record(...entry);
      await firstAnswer;
      return sequence;
    };
    const signals = { claiming: never, giveUp: never };
    const books = createBookkeeper({ ...log, record }, held, () => at, createUnwritten(10), signals);
    const claims = [books.claim([0]), books.claim([1])];
    await books.outcome({ type: "RecipientSent", recipient: 0, messageId: "m", response: "250" });
    now += 60_000;
    await happen(log, job, meanwhile);
    answerFirst();
    const [, isStored] = await Promise.all(claims);
    await books.settled();
    const found = (await log.readRecipients(job)).map(({ event: { type, data } }) =>
      type === "RecipientsClaimed" ? `claims ${data.recipients}` : type,
    );
    return [...found, ...(isStored ? ["serves it"] : [])];
  };

  it("is not stored where another worker has taken the job over: the mail would be in doubt, though it was never sent", async () => {
    const found = await afterFreeze([jobStarted({ worker: "worker-2" })]);
    expect(found).to.deep.equal(["claims 0", "RecipientSent"]);
  });

  it("is stored where the lease still stands", async () => {
    expect(await afterFreeze([])).to.deep.equal(["claims 0", "claims 1", "RecipientSent", "serves it"]);
  });
});
