import type { LogState } from "./event-log.ts";

/** A part of the log by its sequences, both included. */
export type Stretch = { readonly first: number; readonly last: number };

/** Finds where in the log a tenant has events, so that a feed of its past does not read the events of all others. */
export interface TenantStretches {
  /**
   * The next part of the log after a sequence in which the tenant may have events; it has none between the two. Behind what
   * the index covers, that is the whole rest of the log, and `last` is Infinity. `log` says which log is meant.
   */
  next(tenant: string, afterSequence: number, log: LogState): Promise<Stretch>;
}

export const wholeRest = (afterSequence: number): Stretch => ({
  first: afterSequence + 1,
  last: Number.POSITIVE_INFINITY,
});

/** For a process that knows of no index: it reads the log in order. */
export const unknownStretches: TenantStretches = {
  next: async (_tenant, afterSequence) => wholeRest(afterSequence),
};
