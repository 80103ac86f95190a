/** A server did not answer, and it is not known whether it did anything. A later retry can help. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

/**
 * The state of a circuit breaker in front of a server: closed lets everything through, half-open one trial, open
 * nothing.
 */
export type BreakerState = "closed" | "half-open" | "open";
