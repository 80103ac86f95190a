import type { JobRejection } from "../domain/job/decider.ts";
import type { Answer } from "./answer.ts";
import { deadLetterNotFound, jobNotFound, refuse } from "./problem.ts";

/** What the rules of a job refused, as a problem document. */
export function refuseRejection(rejection: JobRejection): Answer {
  switch (rejection.code) {
    case "job-not-found":
      return jobNotFound();
    case "idempotency-key-reused":
      return refuse(rejection.code, "This Idempotency-Key came with another body before; expected the same body.");
    case "dead-letter-not-found":
      return deadLetterNotFound();
    case "dead-letter-closed":
      return refuse(rejection.code, `The dead letter is ${rejection.currentStatus}.`, {
        members: { currentStatus: rejection.currentStatus },
      });
    case "scheduled-too-late": {
      const { scheduledAt, notAfter } = rejection;
      return refuse(
        rejection.code,
        `scheduledAt is ${scheduledAt}; expected a time that is not after notAfter, ${notAfter}.`,
      );
    }
    case "job-has-ended":
    case "job-has-started":
    case "job-not-failed":
    case "job-requeued":
    case "job-not-paused":
    case "turn-not-open":
    case "lease-lost":
      return refuse(rejection.code, `The job is ${rejection.currentStatus}.`, {
        members: { currentStatus: rejection.currentStatus },
      });
  }
}
