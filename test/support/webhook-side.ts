import type { Knex } from "knex";
import { createDueDeliveries } from "../../projections/webhook-deliveries/due-deliveries.ts";
import { createDatabase } from "../../src/database/database.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { EventLog, JobRef, StoredEvent, WaybillEvent } from "../../src/event-log/event-log.ts";
import { toJobAnswer } from "../../src/http/answers/job.ts";
import { toMailingAnswer } from "../../src/http/answers/mailing.ts";
import { createFairSemaphore } from "../../src/process/semaphore.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { type Breakers, createBreakers } from "../../src/signed-post/breakers.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import type { SafePost } from "../../src/signed-post/safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { readDeliveries } from "../../src/webhooks/deliveries.ts";
import { createPublisher } from "../../src/webhooks/publisher.ts";
import { createReceivers } from "../../src/webhooks/receivers.ts";
import { createSender } from "../../src/webhooks/sender.ts";
import { createTenantSecrets } from "../../src/webhooks/tenant-secrets.ts";
import { isWebhookType, type WebhookEndpoint, withEndpoint } from "../../src/webhooks/tenant-webhooks.ts";
import type { WebhookStore } from "../../src/webhooks/webhook-store.ts";
import { createWebhooks, type Webhooks } from "../../src/webhooks/webhooks.ts";
import { caused, earlier, jobCompleted } from "./examples.ts";
import { createMemoryWebhookStore } from "./memory/memory-webhook-store.ts";
import { startWriteSide, type WriteSide } from "./write-side.ts";

export const ownSecret = newSecret().text;

/** Instances of the webhooks role on a log of their own. */
export type WebhookSide = {
  readonly writeSide: WriteSide;
  readonly store: WebhookStore;
  /** Null in place of a database: there is none. */
  start(
    db: Knex | null,
    changed?: { readonly log?: EventLog; readonly post?: SafePost; readonly breakers?: Breakers },
  ): Webhooks;
  addEndpoint(url: string, overrides?: Partial<WebhookEndpoint>): Promise<WebhookEndpoint>;
  /** What makes the first attempts, given one decision at a time: it has followed nothing before. */
  publisher(): { publish(decision: StoredEvent<WaybillEvent>): Promise<void> };
  /** A job that has ended. */
  endedJob(webhookUrl: string | null): Promise<JobRef>;
  notices(job: JobRef): Promise<readonly StoredEvent<WebhookEvent>[]>;
  cleanUp(): Promise<void>;
};

export async function startWebhookSide(): Promise<WebhookSide> {
  const writeSide = await startWriteSide();
  const { contentStore, followed, checkpoints, log: ownLog, reported } = writeSide;
  const store = createMemoryWebhookStore();
  const receivers = createReceivers(store, createTenantSecrets(store, ownSecret), contentStore);
  const shown = {
    show: (job: Parameters<typeof toJobAnswer>[0]) => toJobAnswer(job, "/api"),
    showMailing: (mailing: Parameters<typeof toMailingAnswer>[0]) => toMailingAnswer(mailing, "/api"),
  };
  const stops: (() => Promise<unknown>)[] = [];
  const nowhere = createDatabase("mysql://nobody@127.0.0.1:1/nothing");
  let endpoints = 0;
  return {
    writeSide,
    store,
    start: (db, { log = ownLog, post = createSafePost({ allowed: loopback }), ...changed } = {}) => {
      const webhooks = createWebhooks(
        {
          log,
          contentStore,
          followed,
          checkpoints,
          due: createDueDeliveries(db ?? nowhere),
          receivers,
          post,
          ...changed,
          ...shown,
        },
        (failure) => reported.push(failure),
      );
      webhooks.start();
      stops.push(() => webhooks.stop(1000));
      return webhooks;
    },
    publisher: () => {
      const post = createSafePost({ allowed: loopback });
      const parts = { log: ownLog, contentStore, receivers, post, breakers: createBreakers(), ...shown };
      const sender = createSender({ ...parts, semaphore: createFairSemaphore(1, 1) });
      const { act } = createPublisher(ownLog, receivers, sender);
      const never = new AbortController().signal;
      return { publish: async (decision) => (await act(decision, { stopping: never, givenUp: never })) ?? undefined };
    },
    addEndpoint: async (url, overrides = {}) => {
      endpoints += 1;
      const types = ["job.completed", "job.failed", "job.cancelled"].filter(isWebhookType);
      const id = `endpoint-${endpoints}`;
      const endpoint = { id, url, types, createdAt: earlier, secrets: [newSecret()], ...overrides };
      await store.change("default", (before) => withEndpoint(before, endpoint));
      return endpoint;
    },
    endedJob: async (webhookUrl) => {
      const job = await writeSide.createJob(["ada@example.com"], {}, webhookUrl === null ? {} : { webhookUrl });
      const sequence = await ownLog.lastDecision(job);
      await ownLog.append(job, [caused(`${job.jobId}/ended`, jobCompleted())], sequence);
      return job;
    },
    notices: (job) => readDeliveries(ownLog, job),
    cleanUp: async () => {
      for (const stop of stops) await stop();
      await nowhere.destroy();
      await writeSide.cleanUp();
    },
  };
}

const loopback = readNetworks("127.0.0.0/8").filter((network) => network !== null);
