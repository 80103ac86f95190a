import type { SpareConnections } from "../../workers/job-work.ts";
import { type ConnectionShares, createConnectionShares } from "./connection-shares.ts";

export type SharesOfRoutes = SpareConnections & {
  /** The connections of these routes, which the jobs that use them share. */
  of(routes: string, connections: number): ConnectionShares;
};

/** Jobs with other routes have other connections: a slow route holds up only the jobs that need it. */
export function createSharesOfRoutes(usual: number): SharesOfRoutes {
  const all = new Map<string, { readonly shares: ConnectionShares; readonly connections: number }>();
  const inUse = (): readonly ConnectionShares[] => [...all.values()].map(({ shares }) => shares);

  return {
    of: (routes, connections) => {
      const key = `${routes} ${connections}`;
      const known = all.get(key);
      if (known !== undefined) return known.shares;
      for (const [other, one] of all) if (one.shares.free() === one.connections) all.delete(other);
      const shares = createConnectionShares(connections);
      all.set(key, { shares, connections });
      return shares;
    },
    free: () => (all.size === 0 ? usual : Math.max(...inUse().map((shares) => shares.free()))),
    areWanted: () => inUse().some((shares) => shares.areWanted()),
  };
}
