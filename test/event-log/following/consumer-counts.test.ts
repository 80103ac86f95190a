import { expect } from "chai";
import { Registry } from "prom-client";
import { createJetStreamLogGauge } from "../../../src/event-log/following/jetstream-log-gauge.ts";
import { createLogGauges } from "../../../src/metrics/log-gauges.ts";
import type { JetStreamConnection } from "../../../src/nats/connection.ts";
import { countOf } from "../../../src/nats/consumers.ts";

/** As 2.9 tells a number that has run below zero, and as JSON is read into a number. */
const belowZero = JSON.parse("18446744073709551615") as number;

/** A NATS that tells this of its one durable consumer: no server can be made to on purpose. */
const telling = (told: object): JetStreamConnection => {
  const consumers = {
    list: async function* () {
      yield { name: "email-send-normal-lane", config: { durable_name: "email-send-normal-lane" }, ...told };
    },
  };
  const nats = { jetstreamManager: async () => ({ consumers, streams: {} }) };
  // There are no listeners.
  const error = { code: 404, err_code: 10059, description: "stream not found" };
  const request = async () => ({ data: Buffer.from(JSON.stringify({ error })) });
  // Of the connection the gauge needs no more than this.
  return { nats, request, isUp: () => true, unanswered: () => {} } as unknown as JetStreamConnection;
};

describe("What NATS has counted", () => {
  for (const told of [belowZero, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, undefined, null, "3"]) {
    it(`is not known where it says ${told}`, () => {
      expect(countOf(told)).to.equal(null);
    });
  }
  for (const told of [0, 1, 300_000]) {
    it(`is ${told} where it says so`, () => {
      expect(countOf(told)).to.equal(told);
    });
  }

  it("is passed on neither to the page of the system nor to the metrics where it cannot be", async () => {
    const told = { num_pending: belowZero, num_ack_pending: 2, num_redelivered: -1 };
    const gauge = await createJetStreamLogGauge(telling(told), "");
    const [load] = await gauge.consumers();
    expect(load).to.include({ pending: null, ackPending: 2, redelivered: null });

    const registry = new Registry();
    const size = async () => ({ lastSequence: 0, bytes: 0, maxBytes: null });
    for (const { ask } of createLogGauges(registry, { ...gauge, size }, () => true)) (await ask())();
    const page = await registry.metrics();
    expect(page).to.match(/^waybill_consumer_ack_pending\{consumer="email-send-normal-lane"\} 2$/m);
    expect(page).not.to.match(/^waybill_consumer_(pending|redelivered)\{/m);
  });
});
