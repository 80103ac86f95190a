import type { QueuedTurn } from "../turns/turns.ts";

const firstMs = 1000;
const longestMs = 15_000;
/** Looking at one again costs the log two reads, and the server hands it out before turns that have not been looked at. */
const eachMs = 10;

export type Postpone = (times: number, turn: Pick<QueuedTurn, "tenant" | "priority">) => number | null;

/**
 * How long to wait before looking again at a turn whose job cannot begin yet, by how often it was looked at. Thousands of
 * jobs may wait for the same mail server: the more wait, the longer each does, so that those of others get their share. It
 * counts how many of the same tenant and priority wait, and how many of these there are: one whose mail server was away for a
 * moment does not wait as long as thousands of another.
 *
 * Null where it would be for too long: then the turn is to be dropped. The server counts a turn that was given back as
 * delivered, and with 200,000 of them in a lane it hands out no other, whosever that is. The scheduler puts it again, as any
 * turn that is missing.
 */
export function createPostponing(): Postpone {
  /** How many come back of each tenant and priority, by the second in which they do. */
  const inSecond = new Map<number, Map<string, number>>();
  const waiting = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string, more: number): number => {
    const count = (counts.get(key) ?? 0) + more;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
    return count;
  };
  return (times, { tenant, priority }) => {
    const key = `${tenant} ${priority}`;
    const now = performance.now();
    for (const [second, counts] of inSecond) {
      if (second * 1000 > now) continue;
      for (const [other, count] of counts) add(waiting, other, -count);
      inSecond.delete(second);
    }
    const own = add(waiting, key, 1);
    const leastMs = own * waiting.size * eachMs;
    if (leastMs > longestMs) {
      add(waiting, key, -1);
      return null;
    }
    const usual = Math.min(longestMs, firstMs * 2 ** Math.min(times, 10)) * (0.75 + Math.random() / 4);
    const delayMs = Math.max(usual, leastMs);
    const second = Math.ceil((now + delayMs) / 1000);
    const counts = inSecond.get(second) ?? new Map<string, number>();
    inSecond.set(second, counts);
    add(counts, key, 1);
    return delayMs;
  };
}
