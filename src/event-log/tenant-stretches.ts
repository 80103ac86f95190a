import type { LogState } from "./event-log.ts";

/** A part of the log by its sequences, both included. */
export type Stretch = { readonly first: number; readonly last: number };

/** Finds where in the log a tenant has events, so that a feed of its past does not read the events of all others. */
export interface TenantStretches {
  /**
   * The next part of the log behind a sequence that has events of the tenant: it has none between the two. Where nobody
   * has looked yet, the part is the whole rest of the log, and its `last` is Infinity. `log` says which log is meant.
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
