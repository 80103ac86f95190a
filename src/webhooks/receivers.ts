import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import type { WebhookType } from "../domain/webhooks/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { shareReads } from "../process/shared-reads.ts";
import type { WebhookSecret } from "../signed-post/secret.ts";
import type { TenantSecrets } from "./tenant-secrets.ts";
import { findEndpoint } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** Stands for the receiver that the job or the mailing itself names with `webhookUrl`. */
const ownReceiver = "job";

/** Where to send a message, and the secrets that sign it. */
export type Receiver = {
  readonly url: string;
  readonly secrets: readonly WebhookSecret[];
  /** The name under which the breaker counts failures. */
  readonly name: string;
};

export type Receivers = {
  /**
   * Which receivers to notify that a job or a mailing has ended: ids of endpoints, and `job` for the URL that it names. A
   * job that is known to name none is not looked up.
   */
  endpointsFor(job: JobRef, type: WebhookType, at: Instant, mayNameUrl: boolean): Promise<readonly string[]>;
  /** Null if the receiver is gone. */
  find(job: JobRef, endpoint: string): Promise<Receiver | null>;
};

/** The jobs of a tenant that end within this time share one look at its endpoints. */
const readEveryMs = 50;

export function createReceivers(store: WebhookStore, secrets: TenantSecrets, contentStore: ContentStore): Receivers {
  const readShared = shareReads((tenant) => store.read(tenant), readEveryMs);
  const webhookUrlOf = async (job: JobRef): Promise<string | null> => {
    const stored = await contentStore.get(job);
    return stored === null ? null : (decodeContent(stored).webhookUrl ?? null);
  };
  return {
    endpointsFor: async (job, type, at, mayNameUrl) => {
      const [url, { endpoints }] = await Promise.all([mayNameUrl ? webhookUrlOf(job) : null, readShared(job.tenant)]);
      // An endpoint receives what happens after its creation: the log may go back years.
      const chosen = endpoints.filter(({ types, createdAt }) => types.includes(type) && createdAt <= at);
      return [...(url === null ? [] : [ownReceiver]), ...chosen.map(({ id }) => id)];
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
