import { expect } from "chai";
import type { SendOutcome } from "../../../src/domain/recipients/events.ts";
import { providersOf, receiverOf } from "../../../src/domain/throttles/providers.ts";
import { usualRules } from "../../../src/domain/throttles/throttle.ts";
import { createReceivers } from "../../../src/mail/throttles/receivers.ts";

const error = { code: "deferred", message: "450 4.7.0 later", replyCode: 450, statusCode: "4.7.0" };
const refused: SendOutcome = { kind: "deferred", error };
const hourMs = 3_600_000;
const taken: SendOutcome = { kind: "sent", response: "250 2.0.0 OK" };

describe("the receivers of a worker", () => {
  let at: number;
  let workers: number;
  const create = (most = 1000) => createReceivers({ connections: 10, workers: () => workers, most, now: () => at });

  beforeEach(() => {
    at = 1_800_000_000_000;
    workers = 1;
  });

  const refuse = (receivers: ReturnType<typeof create>, receiver: string, times = 3): void => {
    for (let time = 0; time < times; time += 1) receivers.heard(receiver, refused);
  };

  it("need no room before they ask for patience, and one does not concern the other", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    expect(receivers.admit("slow.example")).to.equal(0);
    expect(receivers.admit("fast.example")).to.equal(null);
  });

  it("get as many mails at a time as the window has, and more as they end", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    let admitted = 0;
    for (; receivers.admit("slow.example") === 0; admitted += 1) at += 1000;
    expect(admitted).to.equal(5);
    receivers.leave("slow.example");
    expect(receivers.admit("slow.example")).to.equal(0);
  });

  it("get a share of the pace from each of several workers", () => {
    const inSeconds = (seconds: number): number => {
      const receivers = create();
      refuse(receivers, "slow.example");
      let count = 0;
      for (let ms = 0; ms < seconds * 1000; ms += 10) {
        at += 10;
        if (receivers.admit("slow.example") !== 0) continue;
        count += 1;
        receivers.leave("slow.example");
      }
      return count;
    };
    const alone = inSeconds(20);
    workers = 4;
    expect(inSeconds(20)).to.be.closeTo(alone / 4, alone / 20);
  });

  it("are at most so many: further ones are mailed as before", () => {
    const receivers = create(2);
    for (const receiver of ["one.example", "two.example", "three.example"]) refuse(receivers, receiver);
    expect(receivers.size()).to.equal(2);
    expect(receivers.admit("three.example")).to.equal(null);
  });

  it("are free after a calm time, and then forgotten", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    at += usualRules.calmMs;
    expect(receivers.admit("slow.example")).to.equal(null);
    expect(receivers.size()).to.equal(0);
  });

  it("are stored at once when they refuse, and not again for each mail", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    const [change] = receivers.changes();
    const stored = change?.toThrottle(null) ?? null;
    receivers.stored("slow.example", stored);
    refuse(receivers, "slow.example", 50);
    receivers.heard("slow.example", taken);
    expect(receivers.changes()).to.deep.equal([]);
    at += 1000;
    refuse(receivers, "slow.example", 1);
    expect(receivers.changes().map(({ receiver }) => receiver)).to.deep.equal(["slow.example"]);
  });

  it("are what another worker has stored", () => {
    const [one, other] = [create(), create()];
    refuse(one, "slow.example");
    const stored = one.changes()[0]?.toThrottle(null) ?? null;
    other.followed("slow.example", stored);
    expect(other.admit("slow.example")).to.equal(0);
    other.followed("slow.example", null);
    expect(other.admit("slow.example")).to.equal(null);
  });

  it("give each caller a later time to come back, by the pace that there will be", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    const times = [1, 2, 3, 4].map(() => receivers.returnInMs("slow.example", 100));
    // 10 a second now, 16.7 after ten seconds, and no more than the 20 at which it is free.
    expect(times.map(Math.round)).to.deep.equal([0, 10_000, 16_000, 21_000]);
  });

  it("keep no caller waiting for what it will not send at once, when it comes back", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    const times = [1, 2].map(() => receivers.returnInMs("slow.example", 100_000));
    expect(times).to.deep.equal([0, 10_000]);
  });

  it("that are free after a calm time are told to the store where the log knows them, whichever part notices it", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    const stored = receivers.changes()[0]?.toThrottle(null);
    if (!stored) throw new Error("The refusal was not stored");
    const recorded = { ...stored, recordedAt: at };
    receivers.stored("slow.example", recorded);
    at += usualRules.calmMs;
    expect(receivers.admit("slow.example")).to.equal(null);
    const [change] = receivers.changes();
    expect(change?.receiver).to.equal("slow.example");
    expect(change?.toThrottle(recorded)).to.equal(null);
    receivers.stored("slow.example", null);
    expect(receivers.changes()).to.deep.equal([]);
  });

  it("are mailed on at their pace, and rest for no more than the longest pause, where the clock was set back", () => {
    const receivers = create();
    refuse(receivers, "slow.example");
    const takes = (): boolean => receivers.admit("slow.example") === 0;
    const forMs = (ms: number): number => {
      let count = 0;
      for (let passed = 0; passed < ms; passed += 10) {
        at += 10;
        if (!takes()) continue;
        receivers.leave("slow.example");
        count += 1;
      }
      return count;
    };
    expect(forMs(5000)).to.be.closeTo(50, 5);
    at -= hourMs;
    expect(forMs(5000)).to.be.closeTo(50, 5);
    for (let round = 0; round < 8; round += 1) {
      at += 1000;
      refuse(receivers, "slow.example");
    }
    at -= hourMs;
    expect(takes()).to.equal(false);
    at += usualRules.longestPauseMs;
    expect(takes()).to.equal(true);
  });

  it("are stored in turn, those first that were not stored for the longest time", () => {
    const receivers = create();
    const names = ["one.example", "two.example", "three.example"];
    const store = (receiver: string): void => {
      const change = receivers.changes().find((due) => due.receiver === receiver);
      receivers.stored(receiver, change?.toThrottle(null) ?? null);
    };
    for (const receiver of names) refuse(receivers, receiver);
    store("one.example");
    at += 1000;
    store("two.example");
    at += 1000;
    for (const receiver of names) refuse(receivers, receiver);
    expect(receivers.changes().map(({ receiver }) => receiver)).to.deep.equal([
      "three.example",
      "one.example",
      "two.example",
    ]);
  });
});

describe("the receiver of an address", () => {
  it("is the provider of its domain, which the setting may name", () => {
    const providers = providersOf([["b.example", "c.example"]]);
    const of = (address: string): string => receiverOf(address, providers);
    expect(of("ada@GoogleMail.com")).to.equal("gmail.com");
    expect(of("ada@c.example")).to.equal("b.example");
    expect(of("ada@d.example")).to.equal("d.example");
  });
});
