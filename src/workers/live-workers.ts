import type { JobType } from "../domain/job/events.ts";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";
import type { Membership } from "./membership.ts";

/** How many workers of a kind are alive, itself included: at least one. */
export type LiveWorkers = PollLoop & { readonly count: () => number };

type Counting = {
  readonly type: JobType;
  readonly everyMs: number;
  /** Whether the number is of use now; the workers are asked only then. */
  readonly isNeeded?: () => boolean;
  readonly report: (failure: unknown) => void;
};

/** Asks now and then. While no worker answers, or NATS does not, the last number stands. */
export function countLiveWorkers(membership: Membership, { type, everyMs, isNeeded, report }: Counting): LiveWorkers {
  let count = 1;
  const loop = createPollLoop({
    everyMs,
    report,
    poll: async () => {
      if (isNeeded?.() === false) return "done";
      const workers = await membership.call();
      count = Math.max(1, workers.filter((worker) => worker.type === type).length);
      return "done";
    },
  });
  return { ...loop, count: () => count };
}
