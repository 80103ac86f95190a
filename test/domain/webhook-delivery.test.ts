import { expect } from "chai";
import { foldDeliveries } from "../../src/domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import { webhookDelayMs, webhookDelaysMs } from "../../src/domain/webhooks/schedule.ts";
import {
  earlier,
  later,
  now,
  webhookDelivered,
  webhookFailed,
  webhookRedeliveryRequested,
} from "../support/examples.ts";

const stateAfter = (...events: readonly WebhookEvent[]) => foldDeliveries(events).get("delivery-1");

describe("the delivery of a webhook", () => {
  it("is over with the first attempt that is answered well", () => {
    expect(stateAfter(webhookDelivered({}, earlier))).to.include({
      status: "delivered",
      attempt: 1,
      statusCode: 200,
      nextAttemptAt: null,
      createdAt: earlier,
    });
  });

  it("waits for the next attempt, until one was the last", () => {
    expect(stateAfter(webhookFailed())).to.include({ status: "waiting", attempt: 1, nextAttemptAt: later });
    const last = webhookFailed({ attempt: 2, nextAttemptAt: null }, later);
    expect(stateAfter(webhookFailed(), last)).to.include({ status: "failed", attempt: 2, lastAttemptAt: later });
  });

  it("is delivered although another instance failed with the same attempt", () => {
    expect(stateAfter(webhookFailed(), webhookDelivered())).to.include({ status: "delivered", attempt: 1 });
    expect(stateAfter(webhookDelivered(), webhookFailed())).to.include({ status: "delivered" });
  });

  it("keeps the first of two failures with the same attempt", () => {
    const second = webhookFailed({ nextAttemptAt: null, statusCode: 500 }, later);
    expect(stateAfter(webhookFailed(), second)).to.deep.equal(stateAfter(webhookFailed()));
  });

  it("begins another round when it is asked for by hand, whatever became of it", () => {
    for (const end of [webhookDelivered(), webhookFailed({ nextAttemptAt: null }), webhookFailed()]) {
      const again = webhookRedeliveryRequested({}, now);
      expect(stateAfter(end, again)).to.include({ status: "waiting", round: 2, attempt: 0, nextAttemptAt: now });
      expect(stateAfter(end, again, again)).to.deep.equal(stateAfter(end, again));
      expect(stateAfter(end, again, webhookDelivered())).to.deep.equal(stateAfter(end, again));
      expect(stateAfter(end, again, webhookDelivered({ round: 2 }))).to.include({ status: "delivered", round: 2 });
    }
  });

  it("is not begun by a request for another round", () => {
    expect(stateAfter(webhookRedeliveryRequested())).to.equal(undefined);
  });
});

describe("the schedule of a webhook", () => {
  it("takes a day, with longer and longer waits", () => {
    const sum = webhookDelaysMs.reduce((total, delayMs) => total + delayMs, 0);
    expect(sum).to.be.within(0.95 * 86_400_000, 86_400_000);
    expect([...webhookDelaysMs]).to.deep.equal([...webhookDelaysMs].sort((one, other) => one - other));
  });

  it("spreads what failed together, by a tenth", () => {
    expect([0, 0.5, 1].map((chance) => webhookDelayMs(1, null, chance))).to.deep.equal([4500, 5000, 5500]);
  });

  it("gives a receiver the time that it asks for, within limits", () => {
    expect(webhookDelayMs(1, 60_000, 0.5)).to.equal(60_000);
    expect(webhookDelayMs(1, 1, 0.5)).to.equal(5000);
    expect(webhookDelayMs(1, Number.MAX_SAFE_INTEGER, 0.5)).to.equal(36_000_000);
  });

  it("ends", () => {
    expect(webhookDelayMs(webhookDelaysMs.length + 1, 60_000, 0.5)).to.equal(null);
  });
});
