import { alertInWords } from "../domain/alerts/words.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import type { WebhookSecret } from "../signed-post/secret.ts";
import { deliver, deliveryIdOf } from "../signed-post/signed-post.ts";
import type { AlertReceiver } from "./alert-sender.ts";

const types = { AlertRaised: "alert.raised", AlertCleared: "alert.cleared" } as const;

/** Calls the operator's URL like every other webhook: signed, and never at a forbidden address. */
export const createWebhookReceiver = (
  url: string,
  secrets: () => Promise<readonly WebhookSecret[]>,
  post: SafePost,
): AlertReceiver => ({
  kind: "webhook",
  notify: async ({ id, event, tenant, jobId }, signal) => {
    const data = { ...event.data, message: alertInWords(event) };
    const message = {
      id: deliveryIdOf({ tenant, jobId }, id, "operator"),
      payload: { type: types[event.type], timestamp: event.at, data },
      traceparent: null,
    };
    const verdict = await deliver(post, { url, secrets: await secrets() }, message, signal);
    if (verdict.kind === "delivered") return { kind: "notified" };
    const code = verdict.statusCode === null ? verdict.error.code : `http-${verdict.statusCode}`;
    return verdict.kind === "again"
      ? { kind: "later", code, retryAfterMs: verdict.retryAfterMs }
      : { kind: "never", code };
  },
});
