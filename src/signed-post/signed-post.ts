import { createHash } from "node:crypto";
import { stringify } from "uuid";
import type { JobError } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { Breakers } from "./breakers.ts";
import type { PostOutcome, SafePost } from "./safe-post.ts";
import { signatureHeaders, type WebhookSecret } from "./secret.ts";

export type Destination = { readonly url: string; readonly secrets: readonly WebhookSecret[] };

/** What Standard Webhooks puts into the body. */
export type Payload = { readonly type: string; readonly timestamp: Instant; readonly data: unknown };

export type Message = { readonly id: string; readonly payload: Payload; readonly traceparent: string | null };

/** The result of one attempt. */
export type Verdict =
  | { readonly kind: "delivered"; readonly statusCode: number }
  | {
      readonly kind: "again" | "never-again";
      readonly statusCode: number | null;
      readonly error: JobError;
      /** What the receiver asked for with Retry-After. */
      readonly retryAfterMs: number | null;
    };

/** Sends one message as Standard Webhooks describes it, signed as of now, and judges the answer. */
export async function deliver(
  post: SafePost,
  destination: Destination,
  message: Message,
  signal?: AbortSignal,
): Promise<Verdict> {
  return judge(await send(post, destination, message, signal));
}

/** The same, except that nothing is sent while the circuit breaker of the receiver is open. */
export async function deliverUnlessDown(
  { post, breakers }: { readonly post: SafePost; readonly breakers: Breakers },
  receiver: string,
  destination: Destination,
  message: Message,
  signal?: AbortSignal,
): Promise<Verdict> {
  const outcome = await breakers.guard(receiver, () => send(post, destination, message, signal));
  return outcome === null ? receiverDown : judge(outcome);
}

function send(
  post: SafePost,
  { url, secrets }: Destination,
  { id, payload: { type, timestamp, data }, traceparent }: Message,
  signal?: AbortSignal,
): Promise<PostOutcome> {
  const body = new TextEncoder().encode(JSON.stringify({ type, timestamp, data }));
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Waybill",
    ...(traceparent === null ? {} : { traceparent }),
    ...signatureHeaders({ id, at: new Date().toISOString(), body }, secrets),
  };
  return post({ url, headers, body, ...(signal === undefined ? {} : { signal }) });
}

/** These answers among the 4xx are about the moment, not about the message. */
const passing: readonly number[] = [408, 409, 425, 429];

function judge(outcome: PostOutcome): Verdict {
  switch (outcome.kind) {
    case "refused":
      return { kind: "never-again", statusCode: null, error: outcome.error, retryAfterMs: null };
    case "unanswered":
      return { kind: "again", statusCode: null, error: outcome.error, retryAfterMs: null };
    case "answered":
      return judgeAnswer(outcome.statusCode, outcome.retryAfterMs);
  }
}

function judgeAnswer(statusCode: number, retryAfterMs: number | null): Verdict {
  if (statusCode >= 200 && statusCode < 300) return { kind: "delivered", statusCode };
  const isFinal = statusCode >= 400 && statusCode < 500 && !passing.includes(statusCode);
  const error = { code: "http-status", message: `The receiver answered ${statusCode}.` };
  return { kind: isFinal ? "never-again" : "again", statusCode, error, retryAfterMs };
}

const receiverDown: Verdict = {
  kind: "again",
  statusCode: null,
  error: { code: "receiver-down", message: "The receiver did not take the messages before this one." },
  retryAfterMs: null,
};

export const neverAgain = (code: string, message: string): Verdict => ({
  kind: "never-again",
  statusCode: null,
  error: { code, message },
  retryAfterMs: null,
});

/**
 * The same id for the same event and receiver, whichever process sends it and however often: a receiver that has seen it
 * before can ignore it. A UUID of version 8 (RFC 9562), made of SHA-256.
 */
export function deliveryIdOf(
  { tenant, jobId }: { readonly tenant: string; readonly jobId: string },
  eventId: string,
  endpoint: string,
): string {
  const name = ["webhook", tenant, jobId, eventId, endpoint].join("\n");
  const bytes = createHash("sha256").update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
