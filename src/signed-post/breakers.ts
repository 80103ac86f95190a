import {
  BrokenCircuitError,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhenResult,
} from "cockatiel";
import type { PostOutcome } from "./safe-post.ts";
import { steadily } from "./steady-waits.ts";

/** Messages in a row that a receiver did not take before its breaker opens. */
const threshold = 5;
const usual: Required<BreakerSettings> = {
  isDown: takesNothing,
  // Beyond this, the breaker of the receiver that was not called for the longest is dropped, and starts closed again.
  maxReceivers: 10_000,
  firstWaitMs: 1000,
  longestWaitMs: 60_000,
};

export type Breakers = {
  /** The outcome of the post; null if the breaker is open, in which case nothing was sent. */
  guard(receiver: string, post: () => Promise<PostOutcome>): Promise<PostOutcome | null>;
};

export type BreakerSettings = {
  /** Which outcomes count against a receiver. */
  readonly isDown?: (outcome: PostOutcome) => boolean;
  readonly maxReceivers?: number;
  /** The first wait before a receiver is tried again; it doubles up to the longest. */
  readonly firstWaitMs?: number;
  readonly longestWaitMs?: number;
};

/** One circuit breaker for each receiver, in the memory of this process: a receiver that is down does not slow down the others. */
export function createBreakers(given: BreakerSettings = {}): Breakers {
  const settings = { ...usual, ...given };
  const policies = new Map<string, ReturnType<typeof createPolicy>>();
  const policyOf = (receiver: string): ReturnType<typeof createPolicy> => {
    const policy = policies.get(receiver) ?? createPolicy(settings);
    policies.delete(receiver);
    policies.set(receiver, policy);
    for (const oldest of policies.keys()) {
      if (policies.size <= settings.maxReceivers) break;
      policies.delete(oldest);
    }
    return policy;
  };
  return {
    guard: async (receiver, post) => {
      try {
        return await policyOf(receiver).execute(post);
      } catch (failure) {
        if (failure instanceof BrokenCircuitError) return null;
        throw failure;
      }
    },
  };
}

function createPolicy({ isDown, firstWaitMs, longestWaitMs }: Required<BreakerSettings>) {
  const waits = new ExponentialBackoff({ initialDelay: firstWaitMs, maxDelay: longestWaitMs });
  // The type of the handler does not say so, but the policy guards posts only.
  return circuitBreaker(
    handleWhenResult((outcome) => isDown(outcome as PostOutcome)),
    { halfOpenAfter: steadily(waits, () => performance.now()), breaker: new ConsecutiveBreaker(threshold) },
  );
}

/** For one receiver. A receiver that refuses a message is up: the fault lies in the message, and the next one may be taken. */
function takesNothing(outcome: PostOutcome): boolean {
  return (
    isUnanswered(outcome) || (outcome.kind === "answered" && (outcome.statusCode === 429 || outcome.statusCode >= 500))
  );
}

/** For a host, which serves many receivers: an error from one of them says nothing about the others. */
export const isUnanswered = ({ kind }: PostOutcome): boolean => kind === "unanswered";
