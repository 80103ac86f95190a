import type { QueuedTurn } from "../turns/turns.ts";

/**
 * A job that can use every connection takes as many slots of a worker as four jobs of one recipient: these wait for the log
 * most of the time, and use a connection only briefly. Large jobs share the connections, so that more of them at a time
 * would only make each take longer, and a single mail that comes then wait for one of them to end.
 */
export const slotsOfLarge = 4;

/** How many slots the turn takes. One that does not bring its job with it may be of any size, and counts as large. */
export function slotsOf({ created }: Pick<QueuedTurn, "created">, connections: number): number {
  const total = created?.event.type === "JobCreated" ? created.event.data.total : connections;
  return Math.min(slotsOfLarge, Math.max(1, Math.ceil((slotsOfLarge * total) / connections)));
}

/** How many turns to ask for, whose sizes are not known yet: as many as fit if they are like those in hand, or else large. */
export function turnsThatFit(slots: number, inHand: readonly number[]): number {
  const taken = sumOf(inHand);
  const usual = inHand.length === 0 ? slotsOfLarge : taken / inHand.length;
  return Math.ceil(Math.max(0, slots - taken) / usual);
}

export const sumOf = (slots: readonly number[]): number => slots.reduce((sum, one) => sum + one, 0);
