import type { MailRoute } from "./mail-route.ts";
import type { RouteRun } from "./route-run.ts";

/** A route that may carry the mails of a job. */
export type Candidate = {
  readonly run: RouteRun;
  readonly order: number;
  readonly weight: number;
};

/** How far each candidate is behind its share, by its place: see nextOf. */
export type Credits = number[];

export const toCandidate = ({ order, weight }: MailRoute, run: RouteRun): Candidate => ({ run, order, weight });

/**
 * The next route for a mail: of those that can be used and were not tried for it, one of the lowest order. Routes of the
 * same order take turns in the proportion of their weights (the smooth weighted round robin of nginx). Null if there is
 * none. `candidates` are sorted by order.
 */
export function nextUsable(
  candidates: readonly Candidate[],
  credits: Credits,
  tried: readonly RouteRun[] | null,
): Candidate | null {
  let chosen = -1;
  let total = 0;
  for (let place = 0; place < candidates.length; place += 1) {
    const candidate = candidates[place] as Candidate;
    if (chosen >= 0 && candidate.order !== candidates[chosen]?.order) break;
    if (tried?.includes(candidate.run) || !candidate.run.isUsable()) continue;
    const credit = (credits[place] ?? 0) + candidate.weight;
    credits[place] = credit;
    total += candidate.weight;
    if (chosen < 0 || credit > (credits[chosen] ?? 0)) chosen = place;
  }
  if (chosen < 0) return null;
  credits[chosen] = (credits[chosen] ?? 0) - total;
  return candidates[chosen] ?? null;
}

/** Where no route can be used, the one whose breaker counts the mails: so a lone job finds out, and comes to an end. */
export const lastResort = (candidates: readonly Candidate[]): Candidate | null =>
  candidates.find(({ run }) => run.mailer.state() === "closed") ?? candidates[0] ?? null;
