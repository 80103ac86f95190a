import type { ContentStore, JobContent } from "../../content/content-store.ts";
import { loadContent } from "../../content/stored-content.ts";
import type { Breakers } from "../../signed-post/breakers.ts";
import type { SafePost } from "../../signed-post/safe-post.ts";
import type { WebhookSecret } from "../../signed-post/secret.ts";
import { deliverUnlessDown, deliveryIdOf, type Payload, type Verdict } from "../../signed-post/signed-post.ts";
import { failedBecause, type JobWork } from "../../workers/job-work.ts";
import { answersHoldMs } from "../../workers/lease.ts";
import { serveRecipients } from "../../workers/serve-recipients.ts";
import { type Served, servedErased } from "../../workers/serving.ts";
import type { HeldTurn } from "../../workers/turn.ts";

/** Concurrent calls of one job: receivers are independent of each other, so these may all be slow ones. */
const connections = 10;

/** Marks the id as that of a recipient, in the place where the id of a webhook about a job's end has the event. */
const ofRecipient = "recipient";

/** What jobs that call receivers work with. */
export type DeliveryPorts = {
  readonly post: SafePost;
  /** By host: a receiver that hangs does not cost the URLs after it ten seconds each. */
  readonly breakers: Breakers;
  readonly secrets: { readonly of: (tenant: string) => Promise<readonly WebhookSecret[]> };
};

type DeliveryDependencies = DeliveryPorts & { readonly contentStore: Pick<ContentStore, "get"> };

/** One message to many URLs, each a signed POST. */
export const createDeliveryWork = ({ contentStore, post, breakers, secrets }: DeliveryDependencies): JobWork => ({
  type: "webhook.deliver",
  prepare: async (job, settings) => {
    const [content, keys] = await Promise.all([loadContent({ job, settings }, contentStore), secrets.of(job.tenant)]);
    if ("code" in content) return failedBecause(content);
    return {
      claims: Array.from(content.recipients.keys()).slice(0, connections),
      work: async (held, lease, books, stopping) =>
        await serveRecipients(held, lease, books, {
          window: () => connections,
          serve: (recipient, mayStill) =>
            unlessWithdrawn(
              (asking) => deliver(held, content, recipient, keys, { post: asking(post), breakers }),
              mayStill,
            ),
          stopping,
        }),
    };
  },
});

class Withdrawn extends Error {
  override readonly name = "Withdrawn";
}

/** A call that waits for the one that tries a host again, up to ten seconds, is made only if the recipient may still be served. */
async function unlessWithdrawn(
  delivering: (asking: (post: SafePost) => SafePost) => Promise<Served>,
  mayStill: () => Promise<boolean>,
): Promise<Served | null> {
  const beganAt = performance.now();
  const asking =
    (post: SafePost): SafePost =>
    async (request) => {
      if (performance.now() - beganAt > answersHoldMs && !(await mayStill())) throw new Withdrawn();
      return await post(request);
    };
  try {
    return await delivering(asking);
  } catch (failure) {
    if (failure instanceof Withdrawn) return null;
    throw failure;
  }
}

/** Uses an id that is the same on every attempt: a receiver that has seen it before can ignore the message. */
async function deliver(
  held: HeldTurn,
  content: JobContent,
  recipient: number,
  secrets: readonly WebhookSecret[],
  { post, breakers }: Pick<DeliveryPorts, "post" | "breakers">,
): Promise<Served> {
  if (content.recipients[recipient] === null) return servedErased;
  const url = content.recipients[recipient]?.email;
  if (url === undefined) throw new Error(`Job ${held.job.jobId} has no recipient ${recipient}`);
  const id = deliveryIdOf(held.job, ofRecipient, String(recipient));
  const message = { id, payload: payloadFor(held, content, recipient), traceparent: held.cause.traceparent };
  return toServed(id, await deliverUnlessDown({ post, breakers }, guardedBy(held, url), { url, secrets }, message));
}

/**
 * The messages that share a breaker: those of a tenant to a host. On the last attempt only calls of this attempt count,
 * because a recipient that is left out then has failed.
 */
function guardedBy({ job, turn, isLastAttempt }: HeldTurn, url: string): string {
  const host = `${job.tenant} ${new URL(url).host}`;
  return isLastAttempt ? `${host} ${job.jobId} ${turn.run}` : host;
}

/** The body is the same on every attempt. The recipient's own data overrides the data for all. */
function payloadFor({ createdAt }: HeldTurn, { payload, recipients }: JobContent, recipient: number): Payload {
  if (payload === undefined) throw new Error("A job that calls webhooks has no payload.");
  const { event, data } = payload as { readonly event: string; readonly data: object };
  return { type: event, timestamp: createdAt, data: { ...data, ...recipients[recipient]?.variables } };
}

function toServed(messageId: string, verdict: Verdict): Served {
  if (verdict.kind === "delivered") {
    return { messageId, outcome: { kind: "sent", response: `HTTP ${verdict.statusCode}` } };
  }
  const { statusCode, error, retryAfterMs } = verdict;
  const kind = verdict.kind === "again" ? "deferred" : "failed";
  return { messageId, outcome: { kind, error: { ...error, replyCode: statusCode, statusCode: null } }, retryAfterMs };
}
