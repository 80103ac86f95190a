import { addressOf } from "../domain/recipients/address.ts";
import { idDomainOf, type Mailer } from "../mail/mailer.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import type { WebhookSecret } from "../signed-post/secret.ts";
import { deliver } from "../signed-post/signed-post.ts";
import type { SealDestination } from "./publish-seals.ts";
import { digestOfSeal, toSealAnswer } from "./seal.ts";
import type { SealStore } from "./seal-store.ts";

export type SealWebhook = {
  readonly url: string;
  readonly post: SafePost;
  /** The secrets that sign calls of the tenant `default`. */
  readonly secrets: () => Promise<readonly WebhookSecret[]>;
  readonly store: SealStore;
};

/** Sends one message for each seal, in the format of Standard Webhooks; a repeated message has the same `webhook-id`. */
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

export type SealMail = {
  readonly to: string;
  readonly from: string;
  readonly mailer: Mailer;
  readonly store: SealStore;
};

/** Sends one mail with all new seals. Kept mails can be compared with the log for ever. */
export const createSealMail = ({ to, from, mailer, store }: SealMail): SealDestination => ({
  name: "mail",
  position: () => store.published("mail"),
  publish: async (seals) => {
    const [first, last] = [seals[0], seals.at(-1)];
    if (first === undefined || last === undefined) return;
    const outcome = await mailer.send({
      letter: {
        from,
        replyTo: null,
        subject: `Waybill sealed events ${first.from} to ${last.to}`,
        html: null,
        text: textOf(seals.map((seal) => JSON.stringify(toSealAnswer(seal)))),
        // RFC 3834: auto-responders must not answer it.
        headers: { "Auto-Submitted": "auto-generated" },
      },
      to,
      // The same for the same seals, so that a second copy can be recognised.
      messageId: `<seal-${digestOfSeal(last).slice(0, 32)}@${idDomainOf(addressOf(from)) || "localhost"}>`,
    });
    // A mail that may have been accepted is sent again: at least once.
    if (outcome.kind !== "sent") throw new Error(`SEAL_MAIL_TO: ${outcome.kind}, ${outcome.error.code}`);
    await store.publishedUpTo("mail", last.sequence);
  },
});

/**
 * For a log that was put back and accepted. Destinations that had seals of its lost end would otherwise get none until the
 * log is as long as it was.
 */
export async function publishAgainAfter(store: SealStore, sequence: number): Promise<void> {
  for (const destination of ["webhook", "mail"]) {
    if ((await store.published(destination)) > sequence) await store.publishedUpTo(destination, sequence);
  }
}

const textOf = (lines: readonly string[]): string =>
  [
    "Keep this mail: the lines below are seals of the event log. With them, anyone can find out later whether the",
    'log was changed since. Put the lines of all these mails into one file and run "waybill verify --seals FILE".',
    "",
    ...lines,
    "",
  ].join("\n");
