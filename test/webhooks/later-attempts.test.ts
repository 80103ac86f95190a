import { expect } from "chai";
import type { Knex } from "knex";
import { createDueDeliveries } from "../../projections/webhook-deliveries/due-deliveries.ts";
import { webhookDeliveriesProjector } from "../../projections/webhook-deliveries/projector.ts";
import { createWebhookDeliveryQueries } from "../../projections/webhook-deliveries/queries.ts";
import { foldDeliveries } from "../../src/domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { withClockSet } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { caused, earlier, jobCreated, webhookFailed } from "../support/examples.ts";
import { openReadSide, type ReadSide, tablesOf } from "../support/read-side.ts";
import { type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { startWebhookSide, type WebhookSide } from "../support/webhook-side.ts";

describe("A delivery that failed", function () {
  this.timeout(120_000);

  let side: WebhookSide;
  let readSide: ReadSide;
  let receiver: Receiver;
  let db: Knex;

  beforeEach(async () => {
    [side, receiver] = await Promise.all([startWebhookSide(), startReceiver()]);
    readSide = await openReadSide(side.writeSide.log);
    db = readSide.db;
  });
  afterEach(async () => {
    await side.cleanUp();
    await readSide.cleanUp();
    await receiver.stop();
  });

  const typesOf = async (job: JobRef): Promise<readonly string[]> =>
    (await side.notices(job)).map(({ event }) => event.type);

  /** What a role has left behind that failed a while ago, and is no more. */
  async function failedBefore(overrides: Partial<Extract<WebhookEvent, { type: "WebhookFailed" }>["data"]> = {}) {
    // Younger than the job's end, so that only this test begins a delivery to it.
    const endpoint = await side.addEndpoint(receiver.url, { createdAt: new Date().toISOString() });
    const job = await side.endedJob(null);
    const jobSequence = await side.writeSide.log.lastDecision(job);
    const data = { endpoint: endpoint.id, jobSequence, nextAttemptAt: earlier, ...overrides };
    await side.writeSide.log.record(job, [caused(`${job.jobId}/failed`, webhookFailed(data))]);
    return { job, endpoint };
  }

  it("is tried again when its time has come, also by an instance that started since, with the same id", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    const { job } = await failedBefore();
    side.start(db);
    await eventually(async () => expect(await typesOf(job)).to.deep.equal(["WebhookFailed", "WebhookDelivered"]));
    const [first, second] = await side.notices(job);
    expect(second?.event.data).to.include({ attempt: 2, deliveryId: "delivery-1", statusCode: 204 });
    expect(second?.causationId).to.equal(first?.id);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).to.deep.equal(["delivery-1"]);
  });

  it("is tried again after five seconds at first", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    receiver.answers(withStatus(503));
    side.start(db);
    const job = await side.endedJob(receiver.url);
    await eventually(async () => expect(await typesOf(job)).to.have.lengthOf(1));
    receiver.answers(withStatus(200));
    await eventually(
      async () => expect(await typesOf(job)).to.deep.equal(["WebhookFailed", "WebhookDelivered"]),
      20_000,
    );
    const [failed, delivered] = (await side.notices(job)).map(({ event }) => Date.parse(event.at));
    expect((delivered ?? 0) - (failed ?? 0)).to.be.at.least(4500);
    expect(receiver.received[0]?.text).to.equal(receiver.received[1]?.text);
  });

  it("is tried again once by two instances, while the message takes longer than both need to look", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    const { job } = await failedBefore();
    receiver.answers((response) => void setTimeout(() => response.writeHead(204).end(), 1500));
    side.start(db);
    side.start(readSide.db);
    await eventually(async () => expect(await typesOf(job)).to.include("WebhookDelivered"));
    expect(receiver.received).to.have.lengthOf(1);
  });

  it("is given up with the last attempt of the day", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    const { job } = await failedBefore({ attempt: 10 });
    receiver.answers(withStatus(500));
    side.start(db);
    await eventually(async () => expect(await typesOf(job)).to.have.lengthOf(2));
    const state = foldDeliveries((await side.notices(job)).map(({ event }) => event)).get("delivery-1");
    expect(state).to.include({ status: "failed", attempt: 11, nextAttemptAt: null });
  });

  it("is not tried again by a table that is behind the log", async () => {
    const runner = readSide.startProjector(webhookDeliveriesProjector);
    const { job } = await failedBefore();
    await readSide.caughtUp("webhook-deliveries");
    await runner.stop();
    const settled = webhookFailed({ attempt: 2, nextAttemptAt: null });
    await side.writeSide.log.record(job, [caused(`${job.jobId}/settled`, settled)]);
    const due = createDueDeliveries(db);
    expect(await due.take(10, 0)).to.deep.equal([{ ...job, deliveryId: "delivery-1" }]);
    const webhooks = side.start(db);
    await eventually(async () => expect(await due.take(10, 0)).to.deep.equal([]));
    await webhooks.stop(5000);
    expect(receiver.received).to.deep.equal([]);
  });

  it("is handed to one of several processes, and to any of them again when that one has died", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    const { job } = await failedBefore();
    await readSide.caughtUp("webhook-deliveries");
    const due = createDueDeliveries(db);
    const taken = await Promise.all([due.take(10, 60_000), due.take(10, 60_000)]);
    expect(taken.flat()).to.deep.equal([{ ...job, deliveryId: "delivery-1" }]);
    expect(await due.take(10, 60_000)).to.deep.equal([]);
    await db("webhook_deliveries").update({ due_at: new Date(0) });
    expect(await due.take(10, 60_000)).to.have.lengthOf(1);
  });

  it("is handed to no other process while one has it in hand, however far their clocks are apart", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    await failedBefore();
    await readSide.caughtUp("webhook-deliveries");
    const due = createDueDeliveries(db);
    expect(await due.take(10, 30_000)).to.have.lengthOf(1);
    expect(await withClockSet(40_000, () => due.take(10, 30_000))).to.deep.equal([]);
  });

  it("is projected as the log has it, rebuilt or not, and listed the newest first", async () => {
    readSide.startProjector(webhookDeliveriesProjector);
    const { job, endpoint } = await failedBefore({ nextAttemptAt: null });
    const other = { tenant: "default", jobId: "another" };
    await side.writeSide.log.append(other, [caused("another/created", jobCreated())], 0);
    const second = webhookFailed({ deliveryId: "delivery-2", endpoint: endpoint.id, nextAttemptAt: null });
    await side.writeSide.log.record(other, [caused("another/failed", second)]);
    await readSide.caughtUp("webhook-deliveries");
    const live = await tablesOf(db, webhookDeliveriesProjector);
    await readSide.rebuild([webhookDeliveriesProjector]);
    expect(await tablesOf(db, webhookDeliveriesProjector)).to.deep.equal(live);

    const queries = createWebhookDeliveryQueries(db);
    const first = await queries.list("default", endpoint.id, { cursor: null, limit: 1 });
    expect(first.deliveries.map(({ deliveryId }) => deliveryId)).to.deep.equal(["delivery-2"]);
    const next = await queries.list("default", endpoint.id, { cursor: Number(first.nextCursor), limit: 1 });
    expect(next.deliveries[0]).to.include({ deliveryId: "delivery-1", jobId: job.jobId, status: "failed" });
    expect(next.nextCursor).to.equal(null);
    expect((await queries.list("acme", endpoint.id, { cursor: null, limit: 10 })).deliveries).to.deep.equal([]);
    expect(await queries.find("acme", endpoint.id, "delivery-1")).to.equal(null);
    expect(await queries.find("default", "another-endpoint", "delivery-1")).to.equal(null);
  });
});
