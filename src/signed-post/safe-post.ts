import type { JobError } from "../domain/job/events.ts";

export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Gives up what is on its way: the other side may have got it. */
  readonly signal?: AbortSignal;
};

export type PostOutcome =
  | {
      readonly kind: "answered";
      readonly statusCode: number;
      /** What the receiver asked for by Retry-After. */
      readonly retryAfterMs: number | null;
    }
  /** Nothing was sent, and nothing would be if it were tried again. */
  | { readonly kind: "refused"; readonly error: JobError }
  /** There was no answer, whatever the other side has got. */
  | { readonly kind: "unanswered"; readonly error: JobError };

/**
 * Sends one POST to a URL that a tenant gave us, and to nobody who only we can reach: the addresses that its host has
 * at that moment are looked at, every one of them, and the connection goes to these. Redirects are not followed, TLS
 * is verified, an answer takes 10 s and 64 KB at most, of which the status alone is of use. The errors hold nothing of
 * the URL and no address. It never throws, and never goes on after it has returned.
 */
export type SafePost = (request: PostRequest) => Promise<PostOutcome>;
