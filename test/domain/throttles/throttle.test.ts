import { expect } from "chai";
import fc from "fast-check";
import { asksForPatience } from "../../../src/domain/throttles/asks-for-patience.ts";
import { merge } from "../../../src/domain/throttles/merge.ts";
import {
  adapt,
  type Heard,
  leastPace,
  leastRefusals,
  type Throttle,
  usualRules,
} from "../../../src/domain/throttles/throttle.ts";

const free = { connections: 10, perSecond: 100 };
const reason = { replyCode: 450, statusCode: "4.7.0", message: "450 4.7.0 later" };
const refusing = (at: number, taken = 0, refused = 10): Heard => ({ at, taken, refused, reason });
const taking = (at: number, taken = 1): Heard => ({ at, taken, refused: 0, reason: null });
const start = 1_800_000_000_000;

const slowed = (...heard: readonly Heard[]): Throttle => {
  const throttle = heard.reduce<Throttle | null>((before, one) => adapt(before, one, free), null);
  if (throttle === null) throw new Error("It is not throttled");
  return throttle;
};

const answers = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 1, max: 20_000 }),
    taken: fc.nat({ max: 50 }),
    refused: fc.nat({ max: 50 }),
  }),
  { maxLength: 60 },
);

const heardOf = (given: readonly { afterMs: number; taken: number; refused: number }[], from = start): Heard[] => {
  let at = from;
  return given.map(({ afterMs, taken, refused }) => {
    at += afterMs;
    return { at, taken, refused, reason: refused > 0 ? reason : null };
  });
};

describe("a receiver that asks for patience", () => {
  it("gets half of the connections and half of the pace", () => {
    expect(slowed(refusing(start))).to.include({ window: 5, perSecond: 50, pausedUntil: 0 });
  });

  it("is not slowed down again by mails that were under way", () => {
    expect(slowed(refusing(start), refusing(start + usualRules.roundMs - 1))).to.include({ window: 5, perSecond: 50 });
  });

  it("is left alone for longer and longer while it takes nothing, up to a limit", () => {
    const rounds = Array.from({ length: 20 }, (_, round) => refusing(start + round * 700_000));
    const pauses = rounds.map((_, last) => {
      const { pausedUntil, slowedAt } = slowed(...rounds.slice(0, last + 1));
      return Math.max(0, pausedUntil - slowedAt);
    });
    expect(pauses.slice(0, 5)).to.deep.equal([0, 2000, 4000, 8000, 16_000]);
    expect(pauses.at(-1)).to.equal(usualRules.longestPauseMs);
  });

  it("grows by the same step in the same time, and is free at last", () => {
    const first = slowed(refusing(start));
    const paces = [1, 2, 3].map((second) => {
      const steps = Array.from({ length: second }, (_, step) => taking(start + (step + 1) * 1000));
      return steps.reduce<Throttle | null>((before, one) => adapt(before, one, free), first)?.perSecond ?? 0;
    });
    const [one = 0, two = 0, three = 0] = paces;
    expect(two - one).to.be.closeTo(one - first.perSecond, 1e-9);
    expect(three - two).to.be.closeTo(two - one, 1e-9);
    let throttle: Throttle | null = first;
    for (let second = 1; second <= 60 && throttle !== null; second += 1) {
      throttle = adapt(throttle, taking(start + second * 1000), free);
    }
    expect(throttle).to.equal(null);
  });

  it("that took nothing for a while is soon back at a quarter of the pace it refused, and grows the slower the longer that was", () => {
    const shut = [0, 2, 6, 14, 30].map((second) => refusing(start + second * 1000));
    const before = slowed(...shut);
    expect(before.perSecond).to.equal(free.perSecond / 32);
    const soon = slowed(...shut, ...[31, 32, 33].map((second) => taking(start + second * 1000)));
    expect(soon.perSecond).to.equal(free.perSecond / 4);
    const after = slowed(...shut, ...[31, 32, 33, 34].map((second) => taking(start + second * 1000)));
    const growthMs = 31_000 * usualRules.growthByRefusal;
    expect(after.perSecond - soon.perSecond).to.be.closeTo((free.perSecond * 1000) / growthMs, 1e-9);
  });

  it("is free once it has refused nothing for long, even without a mail", () => {
    expect(adapt(slowed(refusing(start)), taking(start + usualRules.calmMs), free)).to.equal(null);
  });

  it("is not slowed down by few refusals, nor by few among many", () => {
    expect(adapt(null, refusing(start, 0, leastRefusals - 1), free)).to.equal(null);
    expect(adapt(null, refusing(start, 1000, 99), free)).to.equal(null);
  });

  it("keeps its window and its pace within bounds, whatever it answers", () => {
    fc.assert(
      fc.property(answers, (given) => {
        let throttle: Throttle | null = null;
        for (const heard of heardOf(given)) {
          const before: Throttle | null = throttle;
          throttle = adapt(throttle, heard, free);
          if (throttle === null) continue;
          expect(throttle.window).to.be.within(1, free.connections);
          expect(throttle.perSecond).to.be.within(leastPace, throttle.freePace);
          expect(throttle.pausedUntil).to.be.at.most(heard.at + usualRules.longestPauseMs);
          // Never faster for a refusal.
          if (before !== null && heard.taken === 0) expect(throttle.perSecond).to.be.at.most(before.perSecond);
        }
      }),
    );
  });

  it("is free within an hour of its last refusal, whatever it answered before", () => {
    fc.assert(
      fc.property(answers, (given) => {
        const heard = heardOf(given);
        const throttle = heard.reduce<Throttle | null>((before, one) => adapt(before, one, free), null);
        const last = heard.at(-1)?.at ?? start;
        expect(adapt(throttle, taking(last + usualRules.calmMs), free)).to.equal(null);
      }),
    );
  });

  it("is the same to all workers, in whichever order they learn of each other", () => {
    fc.assert(
      fc.property(answers, answers, fc.integer({ min: -30_000, max: 30_000 }), (given, others, apart) => {
        const fold = (heard: readonly Heard[]) =>
          heard.reduce<Throttle | null>((before, one) => adapt(before, one, free), null);
        const [one, other] = [fold(heardOf(given)), fold(heardOf(others, start + apart))];
        if (one === null || other === null) return;
        const merged = merge(one, other);
        expect(figuresOf(merge(other, one))).to.deep.equal(figuresOf(merged));
        expect(figuresOf(merge(merged, one))).to.deep.equal(figuresOf(merged));
        expect(merged.refusedAt).to.equal(Math.max(one.refusedAt, other.refusedAt));
      }),
    );
  });
});

const figuresOf = ({ window, perSecond, since, refusedAt, slowedAt, pausedUntil }: Throttle) => ({
  window,
  perSecond,
  since,
  refusedAt,
  slowedAt,
  pausedUntil,
});

/** Two hours of a receiver that takes so many a second, and nothing for `shutMs` whenever it gets more. */
function mailStrictReceiver(capacity: number, shutMs: number) {
  const unthrottled = { connections: 20, perSecond: 1000 };
  const stepMs = 250;
  let throttle: Throttle | null = null;
  let [room, due, shutUntil, taken, refused] = [capacity, 0, 0, 0, 0];
  for (let at = start; at < start + 7_200_000; at += stepMs) {
    room = Math.min(capacity, room + (capacity * stepMs) / 1000);
    if (throttle !== null && at < throttle.pausedUntil) continue;
    due += ((throttle?.perSecond ?? unthrottled.perSecond) * stepMs) / 1000;
    // One at a time shows whether it takes mails again.
    const mails = throttle !== null && throttle.rounds > 1 ? 1 : Math.floor(due);
    if (mails === 0) continue;
    due = 0;
    const fits = at < shutUntil ? 0 : Math.min(mails, Math.floor(room));
    if (fits < mails && at >= shutUntil) shutUntil = at + shutMs;
    room -= fits;
    taken += fits;
    refused += mails - fits;
    throttle = adapt(throttle, { at, taken: fits, refused: mails - fits, reason: null }, unthrottled);
  }
  return { used: taken / (7200 * capacity), refusedPerTaken: refused / taken };
}

describe("a receiver that takes nothing for a while whenever it gets too much", () => {
  for (const capacity of [5, 50, 200]) {
    for (const [shutMs, least] of [
      [30_000, 0.5],
      [300_000, 0.25],
    ] as const) {
      it(`takes a good part of ${capacity} mails a second, and refuses few (${shutMs / 1000} s)`, () => {
        const { used, refusedPerTaken } = mailStrictReceiver(capacity, shutMs);
        expect(used).to.be.above(least);
        expect(refusedPerTaken).to.be.below(0.25);
      });
    }
  }
});

describe("an answer of a mail server", () => {
  const answered = (message: string) => ({
    code: "deferred",
    message,
    replyCode: Number(message.slice(0, 3)),
    statusCode: /^\d{3} (4\.\d+\.\d+)/.exec(message)?.[1] ?? null,
  });

  for (const text of [
    "421 too many",
    "432 4.3.2 slow",
    "450 later",
    "451 4.7.1 slow down",
    "452 4.3.1 full",
    "454 4.7.0 later",
  ]) {
    it(`asks for patience: ${text}`, () => expect(asksForPatience(answered(text))).to.equal(true));
  }

  for (const text of [
    "450 4.7.1 Greylisted, try later",
    "451 4.7.1 grey-listing",
    "452 4.2.2 mailbox full",
    "450 4.1.1 who",
  ]) {
    it(`is about one recipient: ${text}`, () => expect(asksForPatience(answered(text))).to.equal(false));
  }
});
