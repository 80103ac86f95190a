import { expect } from "chai";
import { webhookDeliveriesProjector } from "../../projections/webhook-deliveries/projector.ts";
import { createWebhookDeliveryQueries } from "../../projections/webhook-deliveries/queries.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { caused, now } from "../support/examples.ts";
import { decide, draftMailing, importInto, people } from "../support/mailings.ts";
import { createMemoryWebhookStore } from "../support/memory/memory-webhook-store.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The webhook deliveries about a mailing", () => {
  let readSide: ReadSide;
  let api: RunningApi;
  let mailing: JobRef;
  let endpoint: string;

  beforeEach(async () => {
    readSide = await openReadSide();
    const { log, contentStore, db, positions } = readSide;
    const webhooks = {
      store: createMemoryWebhookStore(),
      deliveries: createWebhookDeliveryQueries(db),
      post: async () => ({ kind: "answered", statusCode: 204, retryAfterMs: null }) as const,
      allowed: [],
    };
    const readPosition = { waitFor: positions.waitFor };
    api = await startApi({ log, contentStore, webhooks, readPosition });
    endpoint = (await api.ask("POST", "/api/webhook-endpoints", { body: { url: "https://example.com/hook" } })).body.id;
    mailing = await draftMailing(readSide);
    await importInto(readSide, mailing, people(2));
    await decide(readSide, mailing, { type: "CancelMailing", at: now, reason: null });
    const delivered: WebhookEvent = {
      type: "WebhookDelivered",
      at: now,
      data: {
        deliveryId: "d1",
        endpoint,
        type: "mailing.cancelled",
        jobSequence: 3,
        round: 1,
        attempt: 1,
        statusCode: 204,
      },
    };
    await log.record(mailing, [caused("d1", delivered)]);
    readSide.startProjector(webhookDeliveriesProjector);
    await readSide.caughtUp("webhook-deliveries");
  });
  afterEach(async () => {
    await api.close();
    await readSide.cleanUp();
  });

  const list = async () => (await api.ask("GET", `/api/webhook-endpoints/${endpoint}/deliveries`)).body.data;

  it("name the mailing and no job, also in its own history", async () => {
    expect(await list()).to.have.lengthOf(1);
    expect((await list())[0]).to.include({
      id: "d1",
      jobId: null,
      mailingId: mailing.jobId,
      type: "mailing.cancelled",
    });
    const { body } = await api.ask("GET", `/api/mailings/${mailing.jobId}/events`);
    expect(body.map(({ type }: { readonly type: string }) => type)).to.deep.equal([
      "MailingCreated",
      "MailingPartsAdded",
      "MailingCancelled",
      "WebhookDelivered",
    ]);
    // They are facts in the place of those of a job, and its id is none.
    expect((await api.ask("GET", `/api/jobs/${mailing.jobId}/events`)).status).to.equal(404);
    expect((await api.ask("GET", `/api/jobs/${mailing.jobId}/evidence`)).status).to.equal(404);
  });

  it("are sent again when that is asked for", async () => {
    const path = `/api/webhook-endpoints/${endpoint}/deliveries/d1/redeliver`;
    const { status, body } = await api.ask("POST", path);
    expect(status).to.equal(202);
    expect(body).to.include({ mailingId: mailing.jobId, jobId: null, round: 2, status: "waiting" });
    const notices = await readSide.log.readNotices(mailing);
    expect(notices.map(({ event }) => event.type)).to.deep.equal(["WebhookDelivered", "WebhookRedeliveryRequested"]);
  });

  it("are deleted once the mailing was taken out of the lists", async () => {
    await decide(readSide, mailing, {
      type: "RetireMailing",
      at: now,
      restingBefore: "2999-01-01T00:00:00.000Z",
      reason: "retention",
    });
    await readSide.caughtUp("webhook-deliveries");
    expect(await list()).to.deep.equal([]);
  });
});
