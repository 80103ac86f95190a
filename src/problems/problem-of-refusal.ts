import type { Refusal } from "../intake/refusal.ts";
import { maxRecipients } from "../schemas/job-request.ts";
import { type Problem, problemOfFaults, toProblem } from "./problem.ts";
import { problemOfRejection } from "./problem-of-rejection.ts";

/** Why a job was not created. */
export function problemOfRefusal(refusal: Refusal): Problem {
  switch (refusal.code) {
    case "validation-failed":
      return problemOfFaults(refusal.faults);
    case "too-many-recipients":
      return toProblem(refusal.code, `There are ${refusal.count} recipients; expected at most ${maxRecipients}.`);
    case "content-too-large": {
      const what = refusal.of === "content" ? "The content takes" : "The attachments take";
      const together = refusal.of === "content" ? "" : " together";
      return toProblem(
        refusal.code,
        `${what} ${refusal.bytes} bytes${together}; expected at most ${refusal.maxBytes}.`,
      );
    }
    case "event-log-full":
      return toProblem(refusal.code, "Nothing was accepted. Operators have to make room.");
    case "quota-exceeded": {
      const { recipients, limit, left, resetsAt } = refusal;
      const detail = `There are ${recipients} recipients, and ${left} of ${limit} are left until ${resetsAt}.`;
      return toProblem(refusal.code, detail, { limit, left, resetsAt });
    }
    case "rejected":
      return problemOfRejection(refusal.rejection);
  }
}
