import type { Cause } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { eraseLeftover } from "./erase-leftovers.ts";
import type { StoredThing, StoredThings } from "./stored-things.ts";

export type SweeperSettings = {
  /** Younger things may still become a job. Any age is safe; this one spares requests that are merely slow. */
  readonly olderThanMs: number;
  /** The pause after a round that found nothing more to do. */
  readonly everyMs: number;
};

export type SweeperReports = {
  /** Is called after each round that erased something. */
  readonly erased: (things: number) => void;
  /** Is called each time with a thing that cannot be decided about or erased. */
  readonly notErased: (thing: StoredThing, failure: unknown) => void;
  /** Is called with the failure of each round that broke off. */
  readonly failed: (failure: unknown) => void;
};

const cause: Cause = { actor: "sweeper", correlationId: null, causationId: null, traceparent: null };
const reason = "No job was made of it.";

/**
 * Erases what requests have stored and left behind: requests that died before they created their job, and requests that
 * came after the content of their job was erased. Several processes share the work; doing it twice does no harm. A thing
 * that fails is not settled: it comes back, as nothing else would ever erase it, and the others go on meanwhile.
 */
export function createSweeper(
  ports: ErasurePorts,
  things: Pick<StoredThings, "unsettled">,
  { olderThanMs, everyMs }: SweeperSettings,
  reports: SweeperReports,
): PollLoop {
  const poll = async (stopping: AbortSignal): Promise<"more" | "done"> => {
    const now = Date.now();
    const found = await things.unsettled(now - olderThanMs);
    let erased = 0;
    for (const thing of found) {
      if (stopping.aborted) break;
      const at = new Date(now).toISOString();
      try {
        if ((await eraseLeftover(ports, thing, { reason, cause, at })) !== null) erased += 1;
        thing.settle();
      } catch (failure) {
        // It concerns all the others, too.
        if (isOutage(failure)) throw failure;
        reports.notErased(thing, failure);
      }
    }
    if (erased > 0) reports.erased(erased);
    return found.length > 0 ? "more" : "done";
  };

  return createPollLoop({ poll, everyMs, report: reports.failed });
}
