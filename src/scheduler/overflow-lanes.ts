import { type JobRef, keyOf } from "../event-log/event-log.ts";
import type { QueuedTurn, TurnPlace } from "../turns/turns.ts";

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

type WaitingTurn = QueuedTurn & { readonly place: TurnPlace; readonly sinceMs: number };

/** Without this limit, a turn that is put once more after it was done would count for ever. */
const forgottenAfterMs = 600_000;

export function createOverflowLanes(): OverflowLanes {
  /** By job, the longest waiting first. */
  const waiting = new Map<string, WaitingTurn>();
  /** How many turns of a tenant wait, by lane. */
  const counts = new Map<string, number>();

  const count = (turn: QueuedTurn, more: 1 | -1): void => {
    const left = (counts.get(laneOf(turn)) ?? 0) + more;
    if (left === 0) counts.delete(laneOf(turn));
    else counts.set(laneOf(turn), left);
  };
  const decided = (job: JobRef): void => {
    const turn = waiting.get(keyOf(job));
    if (turn === undefined) return;
    waiting.delete(keyOf(job));
    count(turn, -1);
  };
  const forgetOld = (): void => {
    for (const turn of waiting.values()) {
      if (performance.now() - turn.sinceMs < forgottenAfterMs) return;
      decided(turn);
    }
  };

  return {
    decided,
    place: (turn) => {
      forgetOld();
      const known = waiting.get(keyOf(turn));
      if (known?.after === turn.after) return known.place;
      decided(turn);
      const place = counts.has(laneOf(turn)) ? "overflow" : "lane";
      waiting.set(keyOf(turn), { ...turn, place, sinceMs: performance.now() });
      count(turn, 1);
      return place;
    },
    forgetAll: () => {
      waiting.clear();
      counts.clear();
    },
  };
}

const laneOf = ({ tenant, type, priority }: QueuedTurn): string => `${tenant} ${type} ${priority}`;
