import { Unavailable } from "../domain/unavailable.ts";

/**
 * A number of things as NATS tells it; null where it can be none. Releases up to 2.9 let what waits for a consumer run
 * below zero, and tell 18,446,744,073,709,551,615 then: how many really wait, nobody knows.
 */
export const countOf = (told: unknown): number | null =>
  typeof told === "number" && Number.isSafeInteger(told) && told >= 0 ? told : null;

/** For what cannot go on without it: throws Unavailable, as what NATS counts anew mostly comes out right. */
export function expectCount(told: unknown): number {
  const count = countOf(told ?? 0);
  if (count === null) throw new Unavailable(`NATS has counted ${told} messages, which cannot be.`);
  return count;
}
