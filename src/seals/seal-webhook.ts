import type { SafePost } from "../signed-post/safe-post.ts";
import type { WebhookSecret } from "../signed-post/secret.ts";
import { deliver } from "../signed-post/signed-post.ts";
import type { SealDestination } from "./publish-seals.ts";
import { toSealAnswer } from "./seal.ts";
import type { SealStore } from "./seal-store.ts";

export type SealWebhook = {
  readonly url: string;
  readonly post: SafePost;
  /** What signs calls of the tenant `default`. */
  readonly secrets: () => Promise<readonly WebhookSecret[]>;
  readonly store: SealStore;
};

/** One message for each seal, as Standard Webhooks has it; its `webhook-id` is the same however often it is sent. */
export const createSealWebhook = ({ url, post, secrets, store }: SealWebhook): SealDestination => ({
  name: "webhook",
  position: () => store.published("webhook"),
  publish: async (seals) => {
    const signing = await secrets();
    for (const seal of seals) {
      const data = toSealAnswer(seal);
      const payload = { type: "log.sealed", timestamp: seal.sealedAt, data };
      const message = { id: `seal_${data.digest.slice(0, 32)}`, payload, traceparent: null };
      const verdict = await deliver(post, { url, secrets: signing }, message);
      if (verdict.kind !== "delivered") {
        const { statusCode, error } = verdict;
        throw new Error(statusCode === null ? `SEAL_WEBHOOK: ${error.code}` : `SEAL_WEBHOOK answered ${statusCode}`);
      }
      await store.publishedUpTo("webhook", seal.sequence);
    }
  },
});
