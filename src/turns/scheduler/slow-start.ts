import type { EventLog, JobRef } from "../../event-log/event-log.ts";

/** So many missing turns of a tenant are put until they begin, and then so many times as many. */
const mostAtFirst = 250;
const timesOnceBegun = 10;
/** Of those that were put, so many are asked whether they have begun: half of them, or it is a trickle that more would not widen. */
const mostAsked = 10;

type OfTenant = { readonly most: number; missing: number; put: number; readonly asked: JobRef[] };

/** Which of the missing turns to put now. */
export type SlowStart = {
  /** For one comparison: whether to put this turn, which is missing. Throws Unavailable. */
  choose(): Promise<(missing: JobRef) => boolean>;
  /** Whether turns were left out. */
  isPartial(): boolean;
  /** Whether turns were left out of a tenant of which those that were put begin. Throws Unavailable. */
  haveBegun(): Promise<boolean>;
};

/**
 * A missing turn may have been lost, or a worker has dropped it, as it does where very many jobs of a tenant cannot begin (see
 * createPostponing): all put again, all would be looked at and dropped each minute. So of a tenant that misses very many, some
 * are put, others each time, and far more once these begin.
 */
export function createSlowStart(log: Pick<EventLog, "lastDecision" | "state">): SlowStart {
  let tenants = new Map<string, OfTenant>();
  /** Where the log ended before these were put. */
  let lastSequence = 0;

  const isPartial = ({ missing, put }: OfTenant): boolean => missing > put;
  const hasBegun = async (known: OfTenant): Promise<boolean> => {
    if (!isPartial(known)) return false;
    const decisions = await Promise.all(known.asked.map((job) => log.lastDecision(job)));
    return decisions.filter((sequence) => sequence > lastSequence).length >= known.asked.length / 2;
  };
  const thoseThatBegan = async (): Promise<ReadonlySet<string>> => {
    const began = new Set<string>();
    for (const [tenant, known] of tenants) if (await hasBegun(known)) began.add(tenant);
    return began;
  };

  return {
    isPartial: () => [...tenants.values()].some(isPartial),
    haveBegun: async () => (await thoseThatBegan()).size > 0,
    choose: async () => {
      const [before, began] = [tenants, await thoseThatBegan()];
      lastSequence = (await log.state()).lastSequence;
      tenants = new Map();
      const begin = (tenant: string): OfTenant => {
        const most = began.has(tenant) ? (before.get(tenant)?.most ?? mostAtFirst) * timesOnceBegun : mostAtFirst;
        const own = { most, missing: 0, put: 0, asked: [] };
        tenants.set(tenant, own);
        return own;
      };
      return (job) => {
        const own = tenants.get(job.tenant) ?? begin(job.tenant);
        own.missing += 1;
        // The jobs of one mail route may come before all those of another.
        const isChosen = Math.random() * (before.get(job.tenant)?.missing ?? 0) < own.most;
        if (!isChosen || own.put === own.most) return false;
        own.put += 1;
        if (own.asked.length < mostAsked) own.asked.push(job);
        return true;
      };
    },
  };
}
