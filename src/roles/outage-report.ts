import type { Logger } from "pino";
import { describeFailure } from "../database/database-failure.ts";

const sayAgainAfterMs = 60_000;

/** For what is tried over and over: a line when it begins to fail and one a minute while it does, not one a try. */
export function createOutageReport(logger: Logger, part: string): (failure: unknown) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (failure) => {
    if (performance.now() - saidAt < sayAgainAfterMs) return;
    saidAt = performance.now();
    logger.warn({ part, error: describeFailure(failure) }, "fails, and tries again");
  };
}
