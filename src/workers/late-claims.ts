import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { EventLog, NewEvent } from "../event-log/event-log.ts";
import { answersHoldMs } from "./lease.ts";
import type { HeldTurn } from "./turn.ts";

type Facts = readonly NewEvent<RecipientEvent>[];

/** The claims of a turn that are on their way to the log. */
export type LateClaims = {
  asked(id: string): void;
  /** What of these facts to store now. Throws Unavailable. */
  inTime(facts: Facts): Promise<Facts>;
  /** Once the facts are stored: whether this claim was not left out. */
  areStored(id: string): boolean;
};

/**
 * Leaves out claims that come too late. A claim waits for the entry before it, and for a log that is away; its process may
 * stand still meanwhile, and another worker take the job over. Stored then, it would look like a mail that may have been sent,
 * behind the back of the other one: where that died, nobody would mail the recipient if doubtful ones are left alone.
 */
export function createLateClaims(
  log: Pick<EventLog, "lastDecision">,
  { job, leaseSequence }: Pick<HeldTurn, "job" | "leaseSequence">,
): LateClaims {
  const askedAt = new Map<string, number>();
  const leftOut = new Set<string>();
  return {
    asked: (id) => {
      askedAt.set(id, performance.now());
    },
    inTime: async (facts) => {
      const claims = facts.filter(({ id }) => askedAt.has(id));
      const isOld = claims.some(({ id }) => performance.now() - (askedAt.get(id) ?? 0) > answersHoldMs);
      if (!isOld || (await log.lastDecision(job)) === leaseSequence) return facts;
      for (const { id } of claims) leftOut.add(id);
      return facts.filter((fact) => !claims.includes(fact));
    },
    areStored: (id) => {
      askedAt.delete(id);
      return !leftOut.has(id);
    },
  };
}
