import { can } from "../session.ts";
import type { StatsAnswer } from "./answers.ts";
import { get } from "./client.ts";

export type LoadedStats = {
  readonly own: StatsAnswer;
  /** Of all tenants; null for who may not see them. */
  readonly ofAll: StatsAnswer | null;
};

/** Both of the same moment: what a tile shows and what an alert says must not be two figures. */
export async function loadStats(signal: AbortSignal): Promise<LoadedStats> {
  const [own, ofAll] = await Promise.all([
    get<StatsAnswer>("api/stats", signal),
    can("admin") ? get<StatsAnswer>("api/admin/jobs/stats", signal) : null,
  ]);
  return { own, ofAll };
}
