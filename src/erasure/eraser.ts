import { actOnDecisions, type DecisionActor, type DecisionFeed } from "../event-log/decision-feed.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";

/** What could not be erased now comes back after this. */
const tryAgainMs = 5000;

/**
 * Sees to it that what was decided is done: whoever decided to erase something does it at once, but may die before. It
 * hears of every decision until it has acknowledged it, and mostly finds that nothing is left to do.
 */
export const createEraser = (
  ports: ErasurePorts,
  feed: DecisionFeed,
  report: (failure: unknown) => void,
): DecisionActor =>
  actOnDecisions(
    feed,
    async (decision) => {
      if (decision.event.type === "JobContentErased") await completeErasure(ports, decision);
    },
    tryAgainMs,
    report,
  );
