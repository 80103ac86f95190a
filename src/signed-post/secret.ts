import { createHmac, randomBytes } from "node:crypto";
import type { Instant } from "../domain/message.ts";

/** The key that signs, in the form that its holders know: `whsec_` and base64. */
export type WebhookSecret = {
  readonly text: string;
  /** Null for the current secret; a replaced secret goes on signing until this instant. */
  readonly validUntil: Instant | null;
};

/** Gives receivers a day to adopt the new secret. */
const keptAfterRotationMs = 86_400_000;

/** As Standard Webhooks recommends: between 24 and 64 bytes. */
export const expectedSecret = "whsec_ and the base64 of 24 to 64 bytes";

export const newSecret = (): WebhookSecret => ({
  text: `whsec_${randomBytes(32).toString("base64")}`,
  validUntil: null,
});

export function isSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, "base64");
  return base64.length % 4 === 0 && length >= 24 && length <= 64;
}

/** A new secret, followed by those that still sign for a while. */
export function rotated(secrets: readonly WebhookSecret[], at: Instant): readonly WebhookSecret[] {
  const validUntil = new Date(Date.parse(at) + keptAfterRotationMs).toISOString();
  const before = validAt(secrets, at).map((secret) => ({ ...secret, validUntil: secret.validUntil ?? validUntil }));
  return [newSecret(), ...before];
}

export const validAt = (secrets: readonly WebhookSecret[], at: Instant): readonly WebhookSecret[] =>
  secrets.filter(({ validUntil }) => validUntil === null || validUntil > at);

export type SignedMessage = { readonly id: string; readonly at: Instant; readonly body: Uint8Array };

/** The headers of Standard Webhooks, with one signature for each valid secret. */
export function signatureHeaders(
  { id, at, body }: SignedMessage,
  secrets: readonly WebhookSecret[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(Date.parse(at) / 1000));
  const signatures = validAt(secrets, at).map(({ text }) => {
    const key = Buffer.from(text.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
