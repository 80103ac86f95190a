import { type JobRef, keyOf } from "../../event-log/event-log.ts";
import type { QueuedTurn, TurnPlace } from "../turns.ts";

/**
 * Chooses the place of each turn: in its lane, or in the overflow behind it where a turn of its tenant already waits. Only
 * the order depends on it: a turn that another process put, or that was forgotten, loses nothing.
 */
export type OverflowLanes = {
  /** The turn counts as waiting from here on. The same turn gets the same place, so that it is there only once. */
  place(turn: QueuedTurn): TurnPlace;
  /** Any decision about a job ends its wait: the job has started, has ended, or gets a new turn. */
  decided(job: JobRef): void;
  forgetAll(): void;
};

type WaitingTurn = OfLane & { readonly after: number; readonly place: TurnPlace; readonly sinceMs: number };
type OfLane = Pick<QueuedTurn, "tenant" | "type" | "priority">;

/** Without this limit, a turn that is put once more after it was done would count for ever. */
const forgottenAfterMs = 600_000;

export function createOverflowLanes(): OverflowLanes {
  /** By job, the longest waiting first. */
  const waiting = new Map<string, WaitingTurn>();
  /** How many turns of a tenant wait, by lane. */
  const counts = new Map<string, number>();

  const count = (turn: OfLane, more: 1 | -1): void => {
    const left = (counts.get(laneOf(turn)) ?? 0) + more;
    if (left === 0) counts.delete(laneOf(turn));
    else counts.set(laneOf(turn), left);
  };
  const forget = (key: string): void => {
    const turn = waiting.get(key);
    if (turn === undefined) return;
    waiting.delete(key);
    count(turn, -1);
  };
  const forgetOld = (): void => {
    for (const [key, turn] of waiting) {
      if (performance.now() - turn.sinceMs < forgottenAfterMs) return;
      forget(key);
    }
  };

  return {
    decided: (job) => forget(keyOf(job)),
    place: (turn) => {
      forgetOld();
      const key = keyOf(turn);
      const known = waiting.get(key);
      if (known?.after === turn.after) return known.place;
      forget(key);
      const place = counts.has(laneOf(turn)) ? "overflow" : "lane";
      const { tenant, type, priority, after } = turn;
      waiting.set(key, { tenant, type, priority, after, place, sinceMs: performance.now() });
      count(turn, 1);
      return place;
    },
    forgetAll: () => {
      waiting.clear();
      counts.clear();
    },
  };
}

const laneOf = ({ tenant, type, priority }: OfLane): string => `${tenant} ${type} ${priority}`;
