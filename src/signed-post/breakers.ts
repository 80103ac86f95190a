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
const usual: Required<BreakerSettings> = {
  isDown: takesNothing,
  // The one not called for the longest is forgotten first, and begins anew.
  maxReceivers: 10_000,
  firstWaitMs: 1000,
  longestWaitMs: 60_000,
};

export type Breakers = {
  /** What came of it; null where the receiver is left alone, and nothing was sent. */
  guard(receiver: string, post: () => Promise<PostOutcome>): Promise<PostOutcome | null>;
};

export type BreakerSettings = {
  /** What counts against a receiver. */
  readonly isDown?: (outcome: PostOutcome) => boolean;
  readonly maxReceivers?: number;
  /** The first wait before one is tried again; it doubles up to the longest. */
  readonly firstWaitMs?: number;
  readonly longestWaitMs?: number;
};

/** One circuit breaker for each receiver, in the memory of this process: one that is down costs nobody else's time. */
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

const createPolicy = ({ isDown, firstWaitMs, longestWaitMs }: Required<BreakerSettings>) =>
  // It guards posts and nothing else, which its type does not tell.
  circuitBreaker(
    handleWhenResult((outcome) => isDown(outcome as PostOutcome)),
    {
      halfOpenAfter: new ExponentialBackoff({ initialDelay: firstWaitMs, maxDelay: longestWaitMs }),
      breaker: new ConsecutiveBreaker(threshold),
    },
  );

/** Of a receiver. Who refuses a message is there: it is a fault of the message, and the next one may be taken. */
function takesNothing(outcome: PostOutcome): boolean {
  return (
    isUnanswered(outcome) || (outcome.kind === "answered" && (outcome.statusCode === 429 || outcome.statusCode >= 500))
  );
}

/** Of a host, which has many receivers: one of them that answers with an error says nothing of the others. */
export const isUnanswered = ({ kind }: PostOutcome): boolean => kind === "unanswered";
