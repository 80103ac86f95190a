import type { JobError } from "../domain/job/events.ts";
import type { PostOutcome } from "./safe-post.ts";

/** What an attempt came to. */
export type Verdict =
  | { readonly kind: "delivered"; readonly statusCode: number }
  | {
      readonly kind: "again" | "never-again";
      readonly statusCode: number | null;
      readonly error: JobError;
      /** What the receiver asked for. */
      readonly retryAfterMs: number | null;
    };

/** Of the answers 4xx these are about the moment, not about the message. */
const passing: readonly number[] = [408, 409, 425, 429];

export function judge(outcome: PostOutcome): Verdict {
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

/** It was not asked: it did not take what it was sent a moment ago. */
export const leftAlone: Verdict = {
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
