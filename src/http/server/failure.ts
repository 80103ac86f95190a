import { Unavailable } from "../../domain/unavailable.ts";
import { LogFull } from "../../event-log/event-log.ts";
import { problemOfFailure } from "../../problems/problem-of-failure.ts";
import type { Answer } from "./answer.ts";
import { answerProblem, refuseForNoRoom, refuseForNow, retryAfter } from "./problem.ts";

/** A read model could not be asked. The log, and with it every command, may be as well as ever. */
export class ReadModelUnavailable extends Error {
  override readonly name = "ReadModelUnavailable";
}

/** What broke, as an answer that says nothing of the inside. */
export function answerFailure(failure: unknown): Answer {
  const problem = problemOfFailure(failure, "requestId of this answer");
  if (failure instanceof Unavailable) return answerProblem(problem, retryAfter(2));
  if (failure instanceof LogFull) return refuseForNoRoom();
  if (failure instanceof ReadModelUnavailable) {
    return refuseForNow("read-model-unavailable", "Jobs are accepted and done meanwhile. Try again.", 2);
  }
  return answerProblem(problem);
}

/** Machines that are away are expected, and told apart from defects of ours. */
export const isOutage = (failure: unknown): boolean =>
  failure instanceof Unavailable || failure instanceof LogFull || failure instanceof ReadModelUnavailable;
