import {
  BrokenCircuitError,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhenResult,
} from "cockatiel";
import type { PostOutcome } from "./safe-post.ts";

/** Messages in a row that a receiver did not take, before it is left alone for a while. */
const threshold = 5;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;
/** The one not called for the longest is forgotten first, and begins anew. */
const maxReceivers = 10_000;

export type Breakers = {
  /** What came of it; null where the receiver is left alone, and nothing was sent. */
  guard(receiver: string, post: () => Promise<PostOutcome>): Promise<PostOutcome | null>;
};

/** One circuit breaker for each receiver, in the memory of this process: one that is down costs nobody else's time. */
export function createBreakers(): Breakers {
  const policies = new Map<string, ReturnType<typeof createPolicy>>();
  const policyOf = (receiver: string): ReturnType<typeof createPolicy> => {
    const policy = policies.get(receiver) ?? createPolicy();
    policies.delete(receiver);
    policies.set(receiver, policy);
    for (const oldest of policies.keys()) {
      if (policies.size <= maxReceivers) break;
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

const createPolicy = () =>
  circuitBreaker(handleWhenResult(isDown), {
    halfOpenAfter: new ExponentialBackoff({ initialDelay: firstWaitMs, maxDelay: longestWaitMs }),
    breaker: new ConsecutiveBreaker(threshold),
  });

/** Who refuses a message is there: it is a fault of the message, and the next one may be taken. */
const isDown = (outcome: unknown): boolean => {
  const { kind, ...rest } = outcome as PostOutcome;
  return kind === "unanswered" || ("statusCode" in rest && (rest.statusCode === 429 || rest.statusCode >= 500));
};
