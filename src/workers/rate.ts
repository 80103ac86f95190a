/** How fast a worker claims recipients at the moment, over all its jobs. */
export type Rate = {
  /** Begins anew: what was before says nothing about now. */
  begin(): void;
  add(count: number): void;
  /** How many it claims within this time. */
  within(ms: number): number;
};

const windowMs = 1000;

/** Of the last whole second, and within the first second of what was claimed so far. */
export function createRate(): Rate {
  let begunAt = 0;
  let count = 0;
  let perMs: number | null = null;

  const current = (): number => {
    const elapsed = performance.now() - begunAt;
    if (elapsed >= windowMs) {
      perMs = count / elapsed;
      [begunAt, count] = [performance.now(), 0];
    }
    return perMs ?? count / Math.max(1, elapsed);
  };
  return {
    begin: () => {
      [begunAt, count, perMs] = [performance.now(), 0, null];
    },
    add: (more) => {
      current();
      count += more;
    },
    within: (ms) => current() * ms,
  };
}
