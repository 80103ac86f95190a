import { expect } from "chai";
import { Registry } from "prom-client";
import type { WaybillEvent } from "../../src/event-log/event-log.ts";
import { channelOf } from "../../src/event-log/subjects.ts";
import { createAppendMetrics } from "../../src/metrics/append-metrics.ts";
import { events as table } from "../../src/schemas/events.ts";
import { now } from "../support/examples.ts";

/** The sum of a counter, after each of these was stored once. */
async function countedOf(counter: string, events: readonly WaybillEvent[]): Promise<number> {
  const registry = new Registry();
  const appended = createAppendMetrics(registry);
  const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
  for (const event of events) {
    appended({ job: { tenant: "acme", jobId: "1" }, entry: [{ ...cause, id: "1", event }], outcome: "stored", ms: 1 });
  }
  const { values } = (await registry.getSingleMetric(counter)?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
}

describe("what is counted of the events that are stored", () => {
  const events = Object.entries(table).map(([type, { example }]) => ({ type, at: now, data: example }) as WaybillEvent);
  const isDecision = (event: WaybillEvent): boolean => channelOf(event) === "job";

  it("counts each decision about a job, whatever its name begins with", async () => {
    for (const event of events.filter(isDecision)) {
      expect(await countedOf("waybill_jobs_total", [event]), event.type).to.equal(1);
    }
  });

  it("counts nothing else as one: a turn on the queue is no decision", async () => {
    expect(
      await countedOf(
        "waybill_jobs_total",
        events.filter((event) => !isDecision(event)),
      ),
    ).to.equal(0);
  });

  it("counts each event that says what became of one recipient as an outcome, and those about several not", async () => {
    const types = ["RecipientSent", "RecipientDeferred", "RecipientFailed", "RecipientUnknown", "RecipientSuppressed"];
    const outcomes = events.filter(({ type }) => types.includes(type));
    expect(await countedOf("waybill_messages_total", outcomes)).to.equal(5);
    expect(await countedOf("waybill_messages_total", events)).to.equal(5);
  });
});
