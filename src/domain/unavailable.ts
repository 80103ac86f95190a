/** What was asked did not answer, and nothing is known to have been done. Asking again later can help. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

/** Of a circuit breaker in front of a server: closed lets everything through, half-open a trial, open nothing. */
export type BreakerState = "closed" | "half-open" | "open";
