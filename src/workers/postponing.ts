const firstMs = 1000;
const longestMs = 15_000;
/** Looking at one again costs the log two reads, and the server hands it out before turns that have not been looked at. */
const eachMs = 10;

/**
 * How long to wait before looking again at a turn whose job cannot begin yet, by how often it was looked at. Thousands of
 * jobs may wait for the same mail server: the more wait, the longer each does, so that those of others get their share.
 */
export function createPostponing(): (times: number) => number {
  /** How many come back, by the second in which they do. */
  const inSecond = new Map<number, number>();
  let waiting = 0;
  return (times) => {
    const now = performance.now();
    for (const [second, count] of inSecond) {
      if (second * 1000 > now) continue;
      waiting -= count;
      inSecond.delete(second);
    }
    waiting += 1;
    const usual = Math.min(longestMs, firstMs * 2 ** Math.min(times, 10)) * (0.75 + Math.random() / 4);
    const delayMs = Math.max(usual, waiting * eachMs);
    const second = Math.ceil((now + delayMs) / 1000);
    inSecond.set(second, (inSecond.get(second) ?? 0) + 1);
    return delayMs;
  };
}
