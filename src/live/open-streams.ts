/** How many may stay on the line, in this process and of one tenant. */
export type PlaceLimits = { readonly inProcess: number; readonly ofTenant: number };

export type Place =
  | { readonly outcome: "taken"; readonly signal: AbortSignal }
  | { readonly outcome: "refused"; readonly limit: "process" | "tenant" | "closing" };

/**
 * Requests whose answer goes on: streams, and those that wait. A place is free again when its client has gone. Its
 * signal says so, and also when the client's key was revoked, and when the service stops: then all of them end at once,
 * and clients go elsewhere.
 */
export interface Places {
  take(tenant: string, gone: AbortSignal, isWelcome: () => boolean): Place;
  taken(): number;
  close(): void;
}

/** A revocation works within a second; it takes a part of that to be known here. */
const askEveryMs = 500;

type Taken = { readonly place: AbortController; readonly isWelcome: () => boolean };

export function createPlaces({ inProcess, ofTenant }: PlaceLimits): Places {
  const open = new Set<Taken>();
  const byTenant = new Map<string, number>();
  let isClosed = false;
  let clock: NodeJS.Timeout | null = null;

  const sendAway = (): void => {
    for (const { place, isWelcome } of open) if (!isWelcome()) place.abort();
  };
  const count = (tenant: string, change: number): void => {
    const now = (byTenant.get(tenant) ?? 0) + change;
    if (now === 0) byTenant.delete(tenant);
    else byTenant.set(tenant, now);
  };
  const enter = (taken: Taken, tenant: string): void => {
    open.add(taken);
    count(tenant, 1);
    clock ??= setInterval(sendAway, askEveryMs).unref();
  };
  const leave = (taken: Taken, tenant: string): void => {
    open.delete(taken);
    count(tenant, -1);
    taken.place.abort();
    if (open.size > 0 || clock === null) return;
    clearInterval(clock);
    clock = null;
  };

  return {
    take: (tenant, gone, isWelcome) => {
      if (isClosed) return { outcome: "refused", limit: "closing" };
      if (open.size >= inProcess) return { outcome: "refused", limit: "process" };
      if ((byTenant.get(tenant) ?? 0) >= ofTenant) return { outcome: "refused", limit: "tenant" };
      const taken = { place: new AbortController(), isWelcome };
      const { signal } = taken.place;
      if (gone.aborted) {
        taken.place.abort();
        return { outcome: "taken", signal };
      }
      enter(taken, tenant);
      gone.addEventListener("abort", () => leave(taken, tenant), { once: true });
      return { outcome: "taken", signal };
    },
    taken: () => open.size,
    close: () => {
      isClosed = true;
      for (const { place } of open) place.abort();
    },
  };
}
