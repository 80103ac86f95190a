import { expect } from "chai";
import { delayAfterAttempt, leaseOfAttempt, maxAttempts } from "../../src/outbox/outbox.ts";

const attempts = Array.from({ length: maxAttempts }, (_, index) => index + 1);

describe("the schedule of a row of the outbox", () => {
  it("doubles the delay up to five minutes", () => {
    expect(attempts.slice(0, 10).map(delayAfterAttempt)).to.deep.equal([
      1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000,
    ]);
    expect(delayAfterAttempt(maxAttempts)).to.equal(300_000);
  });

  it("goes on for about a day", () => {
    const hours = attempts.reduce((ms, attempt) => ms + delayAfterAttempt(attempt), 0) / 3_600_000;
    expect(hours).to.be.within(23, 26);
  });

  it("keeps others from a row for longer than a relay may take, and ever longer where relays die of it", () => {
    expect(leaseOfAttempt(1)).to.equal(30_000);
    expect(leaseOfAttempt(20)).to.equal(300_000);
  });
});
