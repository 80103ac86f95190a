import { expect } from "chai";
import { createPace, createPastReaders, type PastLimits } from "../../../src/history/live/past-readers.ts";
import { eventually } from "../../support/eventually.ts";

const hour = 3_600_000;
const limits: PastLimits = { ofTenant: 2, patienceMs: hour, sliceMs: hour, stallMs: hour };
const never = new AbortController().signal;
const batch = async () => "read";

describe("Readers of the past", () => {
  it("come in two of a tenant at a time, and the next one when one leaves", async () => {
    const past = createPastReaders(limits);
    const [one, two, three] = [1, 2, 3].map(() => past.reader("acme", never));
    expect([await one?.comeIn(), await two?.comeIn()]).to.deep.equal([true, true]);
    const third = three?.comeIn();
    expect(await past.reader("shop", never).comeIn()).to.equal(true);
    expect(past.inside()).to.equal(3);
    one?.leave();
    one?.leave();
    expect(await third).to.equal(true);
    expect(past.inside()).to.equal(3);
  });

  it("go again when their patience is at an end, and when their client has gone", async () => {
    const past = createPastReaders({ ...limits, patienceMs: 10 });
    const going = new AbortController();
    for (const _ of [1, 2]) await past.reader("acme", going.signal).comeIn();
    expect(await past.reader("acme", never).comeIn()).to.equal(false);
    const waiting = createPastReaders({ ...limits, ofTenant: 0 })
      .reader("acme", going.signal)
      .comeIn();
    going.abort();
    expect(await waiting).to.equal(false);
    expect(past.inside()).to.equal(0);
    expect(await past.reader("acme", going.signal).read(batch)).to.equal(null);
  });

  it("make room for others when they had their time, and come in again after them", async () => {
    const past = createPastReaders({ ...limits, ofTenant: 1, sliceMs: 0 });
    const [one, two] = [past.reader("acme", never), past.reader("acme", never)];
    await one.read(batch);
    const second = two.read(batch);
    // Its time is over once the clock has moved.
    const again = one.read(batch);
    expect(await second).to.equal("read");
    const third = two.read(batch);
    expect(await again).to.equal("read");
    one.leave();
    expect(await third).to.equal("read");
    expect(past.inside()).to.equal(1);
  });

  it("make room when their client takes nothing, and come in again when it does", async () => {
    const past = createPastReaders({ ...limits, stallMs: 5 });
    const reader = past.reader("acme", never);
    await reader.read(batch);
    await eventually(() => expect(past.inside()).to.equal(0));
    expect(await reader.read(batch)).to.equal("read");
    reader.leave();
    expect(past.inside()).to.equal(0);
  });

  it("read one after the other, and rest for longer than they read", async () => {
    const pace = createPace();
    const workMs = 10;
    const rests: number[] = [];
    let endedAt: number | null = null;
    const work = async (): Promise<void> => {
      const now = performance.now();
      if (endedAt !== null) rests.push(now - endedAt);
      while (performance.now() < now + workMs);
      endedAt = performance.now();
    };
    await Promise.all([1, 2, 3, 4].map(() => pace(work)));
    expect(rests).to.have.length(3);
    for (const rest of rests) expect(rest).to.be.at.least(1.5 * workMs);
  });

  it("go on reading after one of them broke", async () => {
    const pace = createPace();
    const broken = pace(async () => {
      throw new Error("broken");
    });
    expect(await broken.catch((failure: Error) => failure.message)).to.equal("broken");
    expect(await pace(batch)).to.equal("read");
  });
});
