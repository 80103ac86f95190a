import { expect } from "chai";
import { cell } from "../../src/domain/recipients/ledger.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createBookkeeper, createUnwritten } from "../../src/workers/bookkeeper.ts";
import { serveRecipients } from "../../src/workers/serve-recipients.ts";
import type { Served } from "../../src/workers/serving.ts";
import type { HeldTurn } from "../../src/workers/turn.ts";
import { job, jobCreated, jobRetryScheduled, jobStarted, now, recipientDeferred } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { holdTurn, lastingLease } from "../support/held-turn.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const sent: Served = { messageId: "m", outcome: { kind: "sent", response: "250" } };
const ofMail = { code: "deferred", message: "closed", replyCode: null, statusCode: null };
const brokenOff: Served = {
  messageId: "m",
  outcome: { kind: "unavailable", error: { code: "smtp-unavailable", message: "closed" }, ofMail },
};
const away: Served = {
  messageId: "m",
  outcome: { kind: "unavailable", error: { code: "smtp-unavailable", message: "refused" } },
};

describe("a recipient at whose mail the mail server ends the connection", () => {
  let log: EventLog;
  let tried: number[];
  const never = new AbortController().signal;

  beforeEach(() => {
    log = createMemoryEventLog();
    tried = [];
  });

  /** One after the other, over one connection; nothing else tells that the server is there. */
  const serve = async (held: HeldTurn, answers: Readonly<Record<number, Served>>) => {
    const signals = { claiming: never, giveUp: never };
    const books = createBookkeeper(log, held, () => now, createUnwritten(10), signals);
    const end = await serveRecipients(held, lastingLease, books, {
      window: () => 1,
      serve: async (recipient) => {
        tried.push(recipient);
        return answers[recipient] ?? sent;
      },
      stopping: never,
    });
    await books.settled();
    return end;
  };
  const begin = async (total: number, some: Partial<HeldTurn> = {}): Promise<HeldTurn> => {
    await happen(log, job, [jobCreated({ total }), jobStarted()]);
    return await holdTurn(log, total, some);
  };
  const cellsOf = async (held: HeldTurn): Promise<readonly number[]> => [...(await held.readLedger()).cells];

  it("is deferred once the server answers for another, and the others are mailed", async () => {
    const held = await begin(4);
    const end = await serve(held, { 0: brokenOff, 1: brokenOff });
    expect(end).to.have.nested.property("error.code", "recipients-deferred");
    expect(await cellsOf(held)).to.deep.equal([cell.deferred, cell.deferred, cell.sent, cell.sent]);
    expect(tried).to.deep.equal([0, 1, 2, 3]);
  });

  it("is deferred once it is recorded that the other was sent: that must not wait for anything", async () => {
    const held = await begin(2);
    await serve(held, { 0: brokenOff });
    const outcomes = (await log.readRecipients(job)).map(({ event }) => event.type).slice(-2);
    expect(outcomes).to.deep.equal(["RecipientSent", "RecipientDeferred"]);
  });

  it("is deferred where it is the last one, and the server has answered for another before", async () => {
    const held = await begin(2);
    const end = await serve(held, { 1: brokenOff });
    expect(end).to.have.nested.property("error.code", "recipients-deferred");
    expect(await cellsOf(held)).to.deep.equal([cell.sent, cell.deferred]);
  });

  it("has failed after the last attempt", async () => {
    const held = await begin(3, { isLastAttempt: true });
    const end = await serve(held, { 0: brokenOff });
    expect(end.kind).to.equal("completed");
    expect(await cellsOf(held)).to.deep.equal([cell.failed, cell.sent, cell.sent]);
  });

  it("is deferred again in a later attempt, in which it is alone", async () => {
    const attempt = [jobStarted(), recipientDeferred(), jobRetryScheduled(), jobStarted({ attempt: 2 })];
    await happen(log, job, [jobCreated({ total: 1 }), ...attempt]);
    const again = { turn: { run: 1, attempt: 2 } };
    const end = await serve(await holdTurn(log, 1, again), { 0: brokenOff });
    expect(end).to.have.nested.property("error.code", "recipients-deferred");
    const last = await holdTurn(log, 1, { ...again, isLastAttempt: true });
    await serve(last, { 0: brokenOff });
    expect(await cellsOf(last)).to.deep.equal([cell.failed]);
  });

  for (const [how, answers, most] of [
    ["each of several", { 0: brokenOff, 1: brokenOff, 2: brokenOff, 3: brokenOff }, 3],
    ["that one and cannot be reached after it", { 0: brokenOff, 1: away }, 2],
  ] as const) {
    it(`is not marked where the server breaks off ${how}: it is away, and the attempt is over`, async () => {
      const held = await begin(5);
      const end = await serve(held, answers);
      expect(end).to.deep.include({ kind: "try-again" });
      expect(end).to.have.nested.property("error.code", "smtp-unavailable");
      expect(await cellsOf(held)).to.deep.equal([0, 0, 0, 0, 0]);
      expect(tried).to.have.lengthOf(most);
    });
  }

  it("is not marked where of another one the server has not heard either", async () => {
    const error = { code: "template-failed", message: "", replyCode: null, statusCode: null };
    const held = await begin(2);
    const end = await serve(held, { 0: brokenOff, 1: { messageId: "", outcome: { kind: "failed", error } } });
    expect(end).to.have.nested.property("error.code", "smtp-unavailable");
    expect(await cellsOf(held)).to.deep.equal([cell.pending, cell.failed]);
  });

  it("is not marked where there is no other", async () => {
    const held = await begin(1, { isLastAttempt: true });
    const end = await serve(held, { 0: brokenOff });
    expect(end).to.have.nested.property("error.code", "smtp-unavailable");
    expect(await cellsOf(held)).to.deep.equal([cell.pending]);
  });
});
