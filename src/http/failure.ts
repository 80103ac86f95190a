import { LogFull, LogUnavailable } from "../event-log/event-log.ts";
import type { Answer } from "./answer.ts";
import { refuse, refuseForNoRoom, refuseForNow } from "./problem.ts";

/** A read model could not be asked. The log, and with it every command, may be as well as ever. */
export class ReadModelUnavailable extends Error {
  override readonly name = "ReadModelUnavailable";
}

/** What broke, as an answer that says nothing of the inside. */
export function answerFailure(failure: unknown): Answer {
  if (failure instanceof LogUnavailable) {
    return refuseForNow("event-log-unavailable", "Nothing is known to have been accepted. Try again.", 2);
  }
  if (failure instanceof LogFull) return refuseForNoRoom();
  if (failure instanceof ReadModelUnavailable) {
    return refuseForNow("read-model-unavailable", "Jobs are accepted and done meanwhile. Try again.", 2);
  }
  return refuse("internal-error", "It was logged under the requestId of this answer.");
}

/** Machines that are away are expected, and told apart from defects of ours. */
export const isOutage = (failure: unknown): boolean =>
  failure instanceof LogUnavailable || failure instanceof LogFull || failure instanceof ReadModelUnavailable;

/**
 * An error as it may be logged. Messages about SQL can hold what a client asked for, an address for instance: of
 * those only code and place are kept.
 */
export function toLoggable(failure: unknown): Readonly<Record<string, unknown>> {
  if (!(failure instanceof Error)) return { thrown: typeof failure };
  const code = "code" in failure ? failure.code : undefined;
  const frames = failure.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  const message = "sql" in failure || "sqlMessage" in failure ? "left out" : failure.message;
  const cause = failure.cause === undefined ? undefined : toLoggable(failure.cause);
  return { name: failure.name, code, message, frames, cause };
}
