import { bytesOf, fromBase64 } from "./bytes.ts";
import { WebhookRefused } from "./errors.ts";
import type { Job, Mailing } from "./types.ts";

export type ReceivedWebhook = {
  /** As the HTTP server gives them: a Headers object, or an object with lower-case names. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it was received, before anything has parsed it. */
  readonly body: string | Uint8Array;
  /** `whsec_…` */
  readonly secret: string;
  /** How far the clocks of sender and receiver may differ; 300 seconds unless given. */
  readonly toleranceSeconds?: number;
};

/** What happened to one recipient, with details of its type; `id` is the same in every call that says it. */
export type RecipientMessage = {
  readonly id: string;
  readonly type: `recipient.${string}`;
  readonly timestamp: string;
  readonly jobId: string;
  readonly mailingId: string | null;
  readonly recipient: number;
  readonly email: string | null;
  readonly [detail: string]: unknown;
};

type Message<Type extends string, Data> = { readonly type: Type; readonly timestamp: string; readonly data: Data };

/** What Waybill tells receivers. */
export type Webhook =
  | Message<"job.completed" | "job.failed" | "job.cancelled", Job>
  | Message<"mailing.completed" | "mailing.cancelled", Mailing>
  | Message<"recipient.batch", readonly RecipientMessage[]>
  | Message<"webhook.test", { readonly endpointId: string }>;

/**
 * Checks a webhook as Standard Webhooks describes it and returns what it says. Throws WebhookRefused where it was not
 * signed with the secret. The same webhook may arrive twice: its `webhook-id` says so. A job of the kind `webhook.deliver`
 * sends what its application wrote: name that as the type.
 */
export async function verifyWebhook<Said = Webhook>(received: ReceivedWebhook): Promise<Said> {
  const { headers, secret, toleranceSeconds = 300 } = received;
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const body = typeof received.body === "string" ? bytesOf(received.body) : received.body;
  const isRecent = /^\d+$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
  if (!isRecent) throw new WebhookRefused("The webhook was signed too long ago, or the clocks differ.");
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const head = bytesOf(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  for (const signature of headerOf(headers, "webhook-signature").split(" ")) {
    const bytes = signature.startsWith("v1,") ? fromBase64(signature.slice("v1,".length)) : null;
    // A comparison of its own would have to take the same time for every wrong signature; this one does.
    if (bytes !== null && (await crypto.subtle.verify("HMAC", key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(body)) as Said;
    }
  }
  throw new WebhookRefused("The webhook was not signed with this secret.");
}

/** Of any library: not all have the class of the runtime. */
const isHeaders = (headers: ReceivedWebhook["headers"]): headers is Headers => typeof headers["get"] === "function";

function headerOf(headers: ReceivedWebhook["headers"], name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name];
  if (typeof value !== "string") throw new WebhookRefused(`The webhook has no header ${name}.`);
  return value;
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0)
    throw new TypeError("The secret is not one of webhooks; expected whsec_ and base64.");
  return bytes;
}
