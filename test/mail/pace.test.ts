import { expect } from "chai";
import { createPace } from "../../src/mail/pace.ts";

const never = new AbortController().signal;

describe("a limit of mails per second", () => {
  it("spreads them evenly", async () => {
    const pace = createPace(50);
    const began = performance.now();
    await Promise.all(Array.from({ length: 11 }, async () => await pace.turn(never)));
    expect(performance.now() - began).to.be.within(190, 1900);
  });

  it("is none where none is set", async () => {
    const pace = createPace(null);
    const began = performance.now();
    for (let mails = 0; mails < 1000; mails += 1) await pace.turn(never);
    expect(performance.now() - began).to.be.lessThan(900);
  });

  it("stops waiting when the signal aborts", async () => {
    const pace = createPace(0.1);
    await pace.turn(never);
    const stopping = new AbortController();
    const waiting = pace.turn(stopping.signal);
    stopping.abort();
    await waiting;
  });
});
