import { Unavailable } from "../domain/unavailable.ts";
import { LogFull } from "../event-log/event-log.ts";
import { type Problem, toProblem } from "./problem.ts";
import { problemOfRefusal } from "./problem-of-refusal.ts";

const whatMayBe =
  "Whether it was stored is not known. Send the same request again: with an Idempotency-Key a job is made once, without one it may be made twice.";

/** What broke, without a word of the inside; `loggedUnder` names the id by which people find it in our own log lines. */
export function problemOfFailure(failure: unknown, loggedUnder: string): Problem {
  if (failure instanceof Unavailable) {
    return toProblem("event-log-unavailable", whatMayBe);
  }
  if (failure instanceof LogFull) return problemOfRefusal({ code: "event-log-full" });
  return toProblem("internal-error", `It was logged under the ${loggedUnder}.`);
}
