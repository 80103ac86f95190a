const minuteMs = 60_000;

/**
 * Lets the same key pass so often a minute, in this process. What it remembers is no more than the keys of a minute: it
 * is for keys that nobody can make up.
 */
export function createFewTimes(
  perMinute: number,
  nowMs: () => number = () => performance.now(),
): (key: string) => boolean {
  let beganAt = nowMs();
  const times = new Map<string, number>();
  return (key) => {
    if (nowMs() - beganAt >= minuteMs) {
      beganAt = nowMs();
      times.clear();
    }
    const count = (times.get(key) ?? 0) + 1;
    times.set(key, count);
    return count <= perMinute;
  };
}
