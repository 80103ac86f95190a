import type { JobRef } from "../event-log/event-log.ts";
import type { NamedTurn } from "../turns/turn-subjects.ts";
import type { QueuedTurn, TurnPlace } from "../turns/turns.ts";

/**
 * Chooses the place of each turn: in its lane, or in the overflow behind it where a turn of its tenant already waits. Only
 * the order depends on it: a message that was missed or forgotten puts a turn into the other place, and loses nothing.
 */
export type OverflowLanes = {
  /** The turn counts as waiting from here on. The same turn gets the same place, so that it is there only once. */
  place(turn: QueuedTurn): TurnPlace;
  /** Any process has put a turn. */
  put(turn: NamedTurn): void;
  /** Any decision about a job ends its wait: the job has started, has ended, or gets a new turn. */
  decided(job: JobRef): void;
  forgetAll(): void;
};

/** Without this limit, a turn that is put once more after it was done would count for ever. */
const forgottenAfterMs = 600_000;

export function createOverflowLanes(): OverflowLanes {
  /** By job, the longest waiting first. */
  const waiting = new Map<string, NamedTurn & { readonly sinceMs: number }>();
  /** How many turns of a tenant wait, by lane. */
  const counts = new Map<string, number>();

  const count = (turn: NamedTurn, more: 1 | -1): void => {
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
  const put = (turn: NamedTurn): void => {
    decided(turn);
    waiting.set(keyOf(turn), { ...turn, sinceMs: performance.now() });
    count(turn, 1);
  };

  return {
    put,
    decided,
    place: (turn) => {
      forgetOld();
      const known = waiting.get(keyOf(turn));
      if (known?.after === turn.after) return known.place;
      decided(turn);
      const place = counts.has(laneOf(turn)) ? "overflow" : "lane";
      put({ ...turn, place });
      return place;
    },
    forgetAll: () => {
      waiting.clear();
      counts.clear();
    },
  };
}

const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}.${jobId}`;
const laneOf = ({ tenant, type, priority }: Pick<NamedTurn, "tenant" | "type" | "priority">): string =>
  `${tenant} ${type} ${priority}`;
