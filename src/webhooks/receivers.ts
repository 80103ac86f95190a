import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import type { WebhookType } from "../domain/webhooks/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { WebhookSecret } from "../signed-post/secret.ts";
import type { TenantSecrets } from "./tenant-secrets.ts";
import { findEndpoint } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** Stands for the receiver that a job names itself. */
const ownReceiver = "job";

/** Whom to send something, and by what it knows that it comes from us. */
export type Receiver = {
  readonly url: string;
  readonly secrets: readonly WebhookSecret[];
  /** Whose fault it is that something cannot be delivered: what the breaker counts for. */
  readonly name: string;
};

export type Receivers = {
  /** Who is to be told that a job of the tenant ended: ids of endpoints, and `job` for the one that the job names. */
  endpointsFor(job: JobRef, type: WebhookType, at: Instant): Promise<readonly string[]>;
  /** Null where there is none any more. */
  find(job: JobRef, endpoint: string): Promise<Receiver | null>;
};

export function createReceivers(store: WebhookStore, secrets: TenantSecrets, contentStore: ContentStore): Receivers {
  const webhookUrlOf = async (job: JobRef): Promise<string | null> => {
    const stored = await contentStore.get(job);
    return stored === null ? null : (decodeContent(stored).webhookUrl ?? null);
  };
  return {
    endpointsFor: async (job, type, at) => {
      const [url, { endpoints }] = await Promise.all([webhookUrlOf(job), store.read(job.tenant)]);
      // An endpoint hears of what happens from then on: the log may be years old.
      const told = endpoints.filter(({ types, createdAt }) => types.includes(type) && createdAt <= at);
      return [...(url === null ? [] : [ownReceiver]), ...told.map(({ id }) => id)];
    },
    find: async (job, endpoint) => {
      if (endpoint !== ownReceiver) {
        const found = findEndpoint(await store.read(job.tenant), endpoint);
        return found && { url: found.url, secrets: found.secrets, name: `${job.tenant} ${endpoint}` };
      }
      const url = await webhookUrlOf(job);
      if (url === null) return null;
      const { origin } = new URL(url);
      return { url, secrets: await secrets.of(job.tenant), name: `${job.tenant} ${origin}` };
    },
  };
}
