import type { Knex } from "knex";
import type { Logger } from "pino";
import { createDueDeliveries } from "../../projections/webhook-deliveries/due-deliveries.ts";
import { createWebhookDeliveryQueries } from "../../projections/webhook-deliveries/queries.ts";
import type { ContentStore } from "../content/content-store.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { createJetStreamCheckpointStore } from "../event-log/following/jetstream-checkpoint-store.ts";
import { createJetStreamLogGauge } from "../event-log/following/jetstream-log-gauge.ts";
import { placeToText } from "../event-log/place.ts";
import { toJobAnswer } from "../http/answers/job.ts";
import { toMailingAnswer } from "../http/answers/mailing.ts";
import type { RouteDependencies } from "../http/routes/route-dependencies.ts";
import type { WorkPorts } from "../job-kinds/job-kind.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import type { Patience } from "../nats/patience.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { createOutageReport } from "../process/logger.ts";
import { CannotOpen } from "../secrets/sealing.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { createBreakers, isUnanswered } from "../signed-post/breakers.ts";
import { createSafePost } from "../signed-post/http-safe-post.ts";
import {
  bucketOfWebhooks,
  createJetStreamWebhookStore,
  followRecipientEndpoints,
} from "../webhooks/jetstream-webhook-store.ts";
import { createPeople } from "../webhooks/people.ts";
import { createReceivers } from "../webhooks/receivers.ts";
import { createRecipientWebhooks, recipientListener } from "../webhooks/recipient-webhooks.ts";
import { createTenantSecrets } from "../webhooks/tenant-secrets.ts";
import type { WebhookStore } from "../webhooks/webhook-store.ts";
import { createWebhooks } from "../webhooks/webhooks.ts";
import { graceMsOf } from "./grace.ts";
import { sealingOf } from "./sealing.ts";

type WebhookParts = {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly connection: JetStreamConnection;
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly db: Knex;
  readonly lifecycle: Lifecycle;
  readonly patiently: Patience;
};

export const openWebhookStore = ({ connection, config, patiently }: WebhookParts): Promise<WebhookStore> =>
  patiently(() =>
    createJetStreamWebhookStore(
      connection,
      { prefix: config.natsPrefix, replicas: config.streamReplicas },
      sealingOf(config, bucketOfWebhooks),
    ),
  );

/** Notifies receivers that jobs and mailings have ended. */
export async function startWebhooks(parts: WebhookParts & { readonly followed: EventLog }): Promise<void> {
  const { config, logger, connection, log, contentStore, db, lifecycle } = parts;
  const { secret, allowed } = config.webhooks;
  const store = await openWebhookStore(parts);
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const webhooks = createWebhooks(
    {
      log,
      contentStore,
      followed: parts.followed,
      checkpoints: createJetStreamCheckpointStore(connection, { prefix, replicas }),
      due: createDueDeliveries(db),
      receivers: createReceivers(store, createTenantSecrets(store, secret), contentStore),
      post: createSafePost({ allowed }),
      show: (job) => toJobAnswer(job, "/api"),
      showMailing: (mailing) => toMailingAnswer(mailing, "/api"),
    },
    createOutageReport(logger, { part: "webhooks" }).failed,
  );
  webhooks.start();
  // A delivery still being sent by then is sent again by the next process.
  lifecycle.started("the webhooks", () => webhooks.stop(graceMsOf(config)));
}

/** Sends the endpoints that ask for it what happens to each recipient. */
export async function startRecipientWebhooks(parts: WebhookParts): Promise<void> {
  const { config, logger, connection, log, contentStore, lifecycle, patiently } = parts;
  const settings = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const report = createOutageReport(logger, { part: recipientListener }).failed;
  const endpoints = await patiently(() =>
    followRecipientEndpoints(connection, settings, sealingOf(config, bucketOfWebhooks), report),
  );
  lifecycle.started("the endpoints of recipients", endpoints.stop);
  const webhooks = createRecipientWebhooks({
    log,
    gauge: await patiently(() => createJetStreamLogGauge(connection, config.natsPrefix)),
    checkpoints: createJetStreamCheckpointStore(connection, settings),
    endpoints,
    store: await openWebhookStore(parts),
    people: createPeople(contentStore, log),
    post: createSafePost({ allowed: config.webhooks.allowed }),
    skipped: ({ endpoint: { tenant, id }, why, afterPlace, upToPlace }) => {
      const [after, upTo] = [placeToText(afterPlace), placeToText(upToPlace)];
      logger.warn({ tenant, endpoint: id, why, after, upTo }, "webhook messages about recipients left out");
    },
    report,
  });
  webhooks.start();
  lifecycle.started("the webhooks of recipients", () => webhooks.stop(graceMsOf(config)));
}

/** What the work of webhook jobs needs. */
export async function webhooksForWork(parts: WebhookParts): Promise<WorkPorts["webhooks"]> {
  const { secret, allowed } = parts.config.webhooks;
  const secrets = createTenantSecrets(await openWebhookStore(parts), secret);
  return {
    post: createSafePost({ allowed }),
    breakers: createBreakers({ isDown: isUnanswered }),
    secrets: { of: (tenant) => secrets.of(tenant).catch(waitForKey) },
  };
}

/** The newest key may reach this process later than others: a job waits for it, and is not broken off. */
function waitForKey(failure: unknown): never {
  throw failure instanceof CannotOpen ? new Unavailable(failure.message, { cause: failure }) : failure;
}

/** What the routes about webhooks need. */
export async function webhooksForRoutes(parts: WebhookParts): Promise<RouteDependencies["webhooks"]> {
  const { allowed } = parts.config.webhooks;
  return {
    store: await openWebhookStore(parts),
    deliveries: createWebhookDeliveryQueries(parts.db),
    post: createSafePost({ allowed }),
    allowed,
  };
}
