import { can } from "../session.ts";
import type { StatsAnswer } from "./answers.ts";
import { get } from "./client.ts";

export type LoadedStats = {
  readonly own: StatsAnswer;
  /** Counts of all tenants; null for a key that may not see them. */
  readonly ofAll: StatsAnswer | null;
};

/** Loads both at the same moment: a tile and an alert must not show different figures. */
export async function loadStats(signal: AbortSignal): Promise<LoadedStats> {
  const [own, ofAll] = await Promise.all([
    get<StatsAnswer>("api/stats", signal),
    can("admin") ? get<StatsAnswer>("api/admin/jobs/stats", signal) : null,
  ]);
  return { own, ofAll };
}
