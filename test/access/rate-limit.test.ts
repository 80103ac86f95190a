import { expect } from "chai";
import { createRateLimit } from "../../src/access/rate-limit.ts";

describe("A limit of 60 requests a minute", () => {
  let nowMs: number;
  const limit = () => createRateLimit(60, () => nowMs);
  const takeAll = (rate: ReturnType<typeof limit>) => Array.from({ length: 60 }, () => rate.take("a"));

  beforeEach(() => {
    nowMs = 1_000_000;
  });

  it("lets sixty in at once and says how many are left", () => {
    const states = takeAll(limit());
    expect(states.every(({ retryAfterSeconds }) => retryAfterSeconds === null)).to.equal(true);
    expect(states[0]).to.deep.equal({ limit: 60, left: 59, resetSeconds: 1, retryAfterSeconds: null });
    expect(states[59]).to.deep.equal({ limit: 60, left: 0, resetSeconds: 60, retryAfterSeconds: null });
  });

  it("then lets one in each second, and says when", () => {
    const rate = limit();
    takeAll(rate);
    expect(rate.take("a").retryAfterSeconds).to.equal(1);
    nowMs += 999;
    expect(rate.take("a").retryAfterSeconds).to.equal(1);
    nowMs += 1;
    expect(rate.take("a").retryAfterSeconds).to.equal(null);
    expect(rate.take("a").retryAfterSeconds).to.equal(1);
  });

  it("is full again after a minute, and never more than full", () => {
    const rate = limit();
    takeAll(rate);
    nowMs += 3_600_000;
    expect(rate.take("a").left).to.equal(59);
  });

  it("is not used up by being refused", () => {
    const rate = limit();
    takeAll(rate);
    for (let again = 0; again < 100; again += 1) rate.take("a");
    nowMs += 1000;
    expect(rate.take("a").retryAfterSeconds).to.equal(null);
  });
});
