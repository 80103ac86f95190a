import type { JobRejection } from "../domain/job/state.ts";
import { type Problem, toProblem } from "./problem.ts";

/** What the rules of a job refused. */
export function problemOfRejection(rejection: JobRejection): Problem {
  switch (rejection.code) {
    case "job-not-found":
      return toProblem(rejection.code, "There is no job with this id.");
    case "idempotency-key-reused":
      return toProblem(rejection.code, "This Idempotency-Key came with another body before; expected the same body.");
    case "dead-letter-not-found":
      return toProblem(rejection.code, "There is no dead letter with this id.");
    case "dead-letter-closed":
      return toProblem(rejection.code, `The dead letter is ${rejection.currentStatus}.`, {
        currentStatus: rejection.currentStatus,
      });
    case "scheduled-too-late": {
      const { scheduledAt, notAfter } = rejection;
      return toProblem(
        rejection.code,
        `scheduledAt is ${scheduledAt}; expected a time that is not after notAfter, ${notAfter}.`,
      );
    }
    case "content-erased":
      return toProblem(rejection.code, "What was to be sent has been erased.", {
        currentStatus: rejection.currentStatus,
      });
    case "job-has-ended":
    case "job-has-not-ended":
    case "job-has-started":
    case "job-not-failed":
    case "job-requeued":
    case "job-not-paused":
    case "turn-not-open":
    case "too-many-takeovers":
    case "lease-lost":
      return toProblem(rejection.code, `The job is ${rejection.currentStatus}.`, {
        currentStatus: rejection.currentStatus,
      });
  }
}
