const firstMs = 1000;
const longestMs = 15_000;
/** Looking at one again costs the log two reads, and the server hands it out before turns that have not been looked at. */
const eachMs = 10;

/**
 * How long to wait before looking again at a turn whose job cannot begin yet, by how often it was looked at. Thousands of
 * jobs may wait for the same mail server: the more wait, the longer each does, so that those of others get their share. It
 * counts how many of the same tenant wait, and how many tenants: one whose mail server was away for a moment does not wait as
 * long as thousands of another.
 */
export function createPostponing(): (times: number, tenant: string) => number {
  /** How many come back of each tenant, by the second in which they do. */
  const inSecond = new Map<number, Map<string, number>>();
  const waiting = new Map<string, number>();
  const add = (counts: Map<string, number>, tenant: string, more: number): number => {
    const count = (counts.get(tenant) ?? 0) + more;
    if (count === 0) counts.delete(tenant);
    else counts.set(tenant, count);
    return count;
  };
  return (times, tenant) => {
    const now = performance.now();
    for (const [second, counts] of inSecond) {
      if (second * 1000 > now) continue;
      for (const [other, count] of counts) add(waiting, other, -count);
      inSecond.delete(second);
    }
    const own = add(waiting, tenant, 1);
    const usual = Math.min(longestMs, firstMs * 2 ** Math.min(times, 10)) * (0.75 + Math.random() / 4);
    const delayMs = Math.max(usual, own * waiting.size * eachMs);
    const second = Math.ceil((now + delayMs) / 1000);
    const counts = inSecond.get(second) ?? new Map<string, number>();
    inSecond.set(second, counts);
    add(counts, tenant, 1);
    return delayMs;
  };
}
