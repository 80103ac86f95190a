import { expect } from "chai";
import { createBreakers } from "../../src/signed-post/breakers.ts";
import type { PostOutcome } from "../../src/signed-post/safe-post.ts";
import { withClockSet } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";

const down: PostOutcome = { kind: "answered", statusCode: 503, retryAfterMs: null };
const up: PostOutcome = { kind: "answered", statusCode: 204, retryAfterMs: null };

describe("A receiver of webhooks that was down", () => {
  it("is called again after the usual wait where the clock was set back meanwhile", async () => {
    const breakers = createBreakers({ firstWaitMs: 10, longestWaitMs: 20 });
    for (let call = 0; call < 5; call += 1) await breakers.guard("acme hook", async () => down);
    expect(await breakers.guard("acme hook", async () => up)).to.equal(null);
    await withClockSet(-3_600_000, () =>
      eventually(async () => expect(await breakers.guard("acme hook", async () => up)).to.equal(up), 1000),
    );
  });
});
