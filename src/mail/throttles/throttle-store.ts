import type { Throttle } from "../../domain/throttles/throttle.ts";

/** One receiver of one route; the throttle is null once it is free again. */
export type ThrottleEntry = { readonly route: string; readonly receiver: string; readonly throttle: Throttle | null };

/** The throttled receivers, as all workers know them. `change` and `changes` throw Unavailable. */
export interface ThrottleStore {
  /**
   * Stores what `toThrottle` makes of the entry, null for none, and returns it; starts over if another worker was faster.
   */
  change(
    route: string,
    receiver: string,
    toThrottle: (before: Throttle | null) => Throttle | null,
  ): Promise<Throttle | null>;
  /** The entries that changed since the last call, oldest change first; the first call returns all. */
  changes(): Promise<readonly ThrottleEntry[]>;
  /**
   * Calls back when an entry changes, perhaps before `changes` has it, unless the announcement is lost; returns a function
   * that stops the calls.
   */
  onChange(heard: () => void): () => void;
}
