export type TenantShares = {
  /** Does the work, and tells it for how long (ms) it may wait for room: at 0 not at all, within its share without end. */
  run<Result>(tenant: string, work: (patienceMs: number) => Promise<Result>): Promise<Result>;
};

/**
 * Keeps a tenant whose receivers are slow from taking all that may be in hand. Within its share a tenant's work may wait;
 * beyond it, only until the oldest that it has in hand is `slowMs` old: where receivers are fast, many messages at once are
 * no reason to put one off.
 */
export function createTenantShares(share: number, slowMs: number): TenantShares {
  const inHand = new Map<string, Set<{ readonly begunAt: number }>>();
  return {
    run: async (tenant, work) => {
      const begunAt = performance.now();
      const all = inHand.get(tenant) ?? new Set();
      const [oldest] = all;
      const isWithin = oldest === undefined || all.size < share;
      const one = { begunAt };
      inHand.set(tenant, all.add(one));
      try {
        return await work(isWithin ? Number.POSITIVE_INFINITY : Math.max(0, oldest.begunAt + slowMs - begunAt));
      } finally {
        all.delete(one);
        if (all.size === 0) inHand.delete(tenant);
      }
    },
  };
}
