import { expect } from "chai";
import { cell, emptyLedger, type Ledger } from "../../src/domain/recipients/ledger.ts";
import type { HelpDone } from "../../src/workers/help.ts";
import type { Lease, LeaseAnswer } from "../../src/workers/lease.ts";
import { shareTurn } from "../../src/workers/shared-turn.ts";
import { job, settings } from "../support/examples.ts";

const total = 100;
const leaseSequence = 2;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("a turn of a hundred recipients that is shared by groups of at least ten", () => {
  let left: number[];
  let ledger: Ledger;
  /** What the log says in the end. */
  let read: Ledger;
  let answers: Record<string, LeaseAnswer>;
  let isHeld: boolean;
  let mostOfGroup: number;
  let stopping: AbortController;

  beforeEach(() => {
    [left, ledger, read] = [numbers(total), emptyLedger(total), emptyLedger(total)];
    read.cells.fill(cell.sent);
    [answers, isHeld, mostOfGroup] = [{}, true, 1000];
    stopping = new AbortController();
  });

  const share = () => {
    const held = {
      job,
      turn: { run: 1, attempt: 1 },
      settings: { ...settings, total },
      createdAt: "",
      worker: "holder",
      leaseSequence,
      cause: { actor: "worker:holder", correlationId: null, causationId: null, traceparent: null },
      ledger,
      confirmedAt: 0,
      readLedger: async () => read,
      claimed: [],
      isLastAttempt: false,
      deferredUntil: null,
      putOff: 0,
      putOffUntil: new Date(0).toISOString(),
      supply: null,
      help: null,
    };
    const turn = shareTurn(held, { isHeld: () => isHeld } as Lease, {
      probe: { answerFor: () => () => {}, ask: async (worker) => answers[worker] ?? "silent" },
      leastOfGroup: 10,
      mostOfGroup: () => mostOfGroup,
      claimed: () => {},
      stopping: stopping.signal,
      giveUp: new AbortController().signal,
    });
    turn.open(left);
    const more = (helper: string, part = 0): readonly number[] =>
      turn.answer({ kind: "more", ...job, helper, help: `${helper}.1`, part }).recipients;
    const done = (helper: string, said: Partial<HelpDone> = {}) =>
      turn.answer({
        kind: "done",
        ...job,
        helper,
        help: `${helper}.1`,
        parts: 1,
        notServed: [],
        isClean: true,
        ...said,
      });
    return { turn, more, done };
  };
  const recorded = async (): Promise<void> => {};

  it("passes on the last recipients, in smaller groups the more helpers there are, under the holder's lease", () => {
    const { turn, more } = share();
    const first = more("one");
    expect(first).to.deep.equal(numbers(total).slice(75));
    expect(more("two")).to.deep.equal(numbers(75).slice(62));
    expect(left).to.deep.equal(numbers(62));
    const again = turn.answer({ kind: "more", ...job, helper: "one", help: "one.1", part: 1 });
    expect(again).to.deep.equal({ leaseSequence, recipients: numbers(62).slice(51) });
  });

  it("passes on no more together than helpers serve in a moment", () => {
    mostOfGroup = 15;
    expect(share().more("one")).to.deep.equal(numbers(total).slice(85));
  });

  it("keeps the last ten for the holder", () => {
    left.splice(15);
    const { more } = share();
    expect(more("one")).to.deep.equal([10, 11, 12, 13, 14]);
    expect(more("two")).to.deep.equal([]);
  });

  it("passes on none that is in doubt", () => {
    for (const recipient of [99, 98, 50]) ledger.cells[recipient] = cell.claimed;
    const group = share().more("one");
    expect(group).to.have.lengthOf(25);
    for (const recipient of [99, 98]) expect(group).to.not.include(recipient);
    expect(left).to.include.members([50, 98, 99]);
  });

  it("answers a repeated request with the same recipients", () => {
    const { more } = share();
    expect(more("one")).to.deep.equal(more("one"));
    expect(left).to.have.lengthOf(75);
  });

  it("passes on nothing once the lease is lost, or the worker is to stop", () => {
    isHeld = false;
    expect(share().more("one")).to.deep.equal([]);
    isHeld = true;
    stopping.abort();
    expect(share().more("one")).to.deep.equal([]);
  });

  it("takes back what a helper did not serve, and what it was never told of", async () => {
    const { turn, more, done } = share();
    more("one");
    const lost = more("one", 1);
    left.splice(0);
    done("one", { notServed: [99] });
    expect(await turn.refill()).to.equal(true);
    expect(left).to.deep.equal([99, ...lost]);
  });

  it("lets no help begin whose end was heard of before", () => {
    const { more, done } = share();
    done("one", { parts: 0 });
    expect(more("one")).to.deep.equal([]);
  });

  it("takes nothing back from a helper of an earlier lease", () => {
    const { done } = share();
    left.splice(0);
    done("one", { parts: 3, notServed: [98, 99] });
    expect(left).to.deep.equal([]);
  });

  it("wants no help where all that is left is in doubt", () => {
    ledger.cells.fill(cell.claimed);
    const { turn, more } = share();
    expect(turn.left()).to.equal(0);
    expect(more("one")).to.deep.equal([]);
  });

  it("ends once the helpers are done, with what the log says of their recipients", async () => {
    const { turn, more, done } = share();
    more("one");
    left.splice(0);
    answers = { one: "running" };
    setTimeout(() => done("one"), 20);
    expect(await turn.refill()).to.equal(false);
    expect(await turn.gather(recorded)).to.deep.equal({ areLost: false, haveServedAll: true });
    expect(ledger.cells.every((value) => value === cell.sent)).to.equal(true);
  });

  it("needs another lease where a helper is gone, unless all that it was given has an end", async () => {
    const { turn, more } = share();
    const group = more("one");
    left.splice(0);
    for (const recipient of group) read.cells[recipient] = cell.claimed;
    expect(await turn.refill()).to.equal(false);
    expect((await turn.gather(recorded)).areLost).to.equal(true);
    for (const recipient of group) read.cells[recipient] = cell.failed;
    expect((await turn.gather(recorded)).areLost).to.equal(false);
    expect(turn.hasLost()).to.equal(true);
  });

  it("needs another lease where a helper had to leave claims behind", async () => {
    const { turn, more, done } = share();
    const [first = -1] = more("one");
    done("one", { isClean: false });
    read.cells[first] = cell.claimed;
    expect((await turn.gather(recorded)).areLost).to.equal(true);
  });
});
