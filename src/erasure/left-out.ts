import type { JobRef } from "../event-log/event-log.ts";

/** Jobs or mailings that could not be erased and are not tried again for a while, so that others have their turn. */
export type LeftOut = {
  add(ref: JobRef): void;
  /** How many there are now. */
  size(): number;
  has(ref: JobRef): boolean;
};

const leftOutMs = 3_600_000;

/** Where more of them fail, the first are forgotten, and tried again early. */
const mostLeftOut = 1000;

export function createLeftOut(forMs = leftOutMs, most = mostLeftOut): LeftOut {
  /** Until when, by the monotonic clock; in the order in which they failed. */
  const until = new Map<string, number>();
  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;
  const forget = (): void => {
    for (const [key, end] of until) {
      if (until.size <= most && performance.now() < end) return;
      until.delete(key);
    }
  };
  return {
    add: (ref) => {
      until.delete(keyOf(ref));
      until.set(keyOf(ref), performance.now() + forMs);
      forget();
    },
    size: () => {
      forget();
      return until.size;
    },
    has: (ref) => until.has(keyOf(ref)),
  };
}
