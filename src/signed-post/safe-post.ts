import type { JobError } from "../domain/job/events.ts";

export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts the call; the receiver may have got the message all the same. */
  readonly signal?: AbortSignal;
};

export type PostOutcome =
  | {
      readonly kind: "answered";
      readonly statusCode: number;
      /** What the receiver asked for with Retry-After. */
      readonly retryAfterMs: number | null;
    }
  /** Nothing was sent, and another try would send nothing either. */
  | { readonly kind: "refused"; readonly error: JobError }
  /** There was no answer; the receiver may or may not have got the message. */
  | { readonly kind: "unanswered"; readonly error: JobError };

/**
 * Sends one POST to a URL that a tenant supplied, and never to a host that only this service can reach: it checks every
 * address that the host has at that moment, and connects to one of those. It does not follow redirects, verifies TLS,
 * and reads at most 64 KB of an answer within 10 s; only the status is used. Errors contain no address and no part of
 * the URL. It never throws, and does nothing more after it has returned.
 */
export type SafePost = (request: PostRequest) => Promise<PostOutcome>;
