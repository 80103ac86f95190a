import type { JobRejection } from "../domain/job/state.ts";
import { type ShownStatus, shownStatus } from "../domain/mailing/mailing-record.ts";
import type { MailingRejection } from "../domain/mailing/state.ts";
import type { ScheduleRejection } from "../domain/schedule/decider.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { Archived, LogFull } from "../event-log/log-failures.ts";
import { maxRecipients } from "../schemas/job-request.ts";
import { type Problem, problemOfFaults, toProblem } from "../schemas/problem.ts";
import type { Refusal } from "./check-request.ts";

/** Why a job was not created. */
export function problemOfRefusal(refusal: Refusal): Problem {
  switch (refusal.code) {
    case "validation-failed":
      return problemOfFaults(refusal.faults);
    case "too-many-recipients":
      return toProblem(
        refusal.code,
        `There are ${refusal.count} recipients; expected at most ${maxRecipients} in one job. A mailing takes more: POST /api/mailings.`,
      );
    case "content-too-large": {
      const what = refusal.of === "content" ? "The content takes" : "The attachments take";
      const together = refusal.of === "content" ? "" : " together";
      return toProblem(
        refusal.code,
        `${what} ${refusal.bytes} bytes${together}; expected at most ${refusal.maxBytes}.`,
      );
    }
    case "event-log-full":
      return toProblem(refusal.code, "Nothing was accepted. An operator must make room in the log.");
    case "quota-exceeded": {
      const { recipients, limit, left, resetsAt } = refusal;
      const detail = `There are ${recipients} recipients, and ${left} of ${limit} are left until ${resetsAt}.`;
      return toProblem(refusal.code, detail, { limit, left, resetsAt });
    }
    case "rejected":
      return problemOfRejection(refusal.rejection);
  }
}

/** The problem for a decision that the rules of a job, of a mailing or of a schedule refused. */
export function problemOfRejection(rejection: JobRejection | MailingRejection | ScheduleRejection): Problem {
  switch (rejection.code) {
    case "mailing-not-found":
      return toProblem(rejection.code, "There is no mailing with this id.");
    case "mailing-is-empty":
      return toProblem(rejection.code, "The mailing has no recipients; expected at least one.");
    case "mailing-is-full":
      return toProblem(
        rejection.code,
        `The mailing would have too many parts; expected at most ${rejection.maxParts}.`,
      );
    case "mailing-has-started":
    case "mailing-not-started":
    case "mailing-not-paused":
    case "mailing-has-ended":
    case "mailing-awaits-approval":
    case "mailing-has-not-ended":
    case "mailing-has-not-failed":
    case "mailing-not-awaiting-approval":
      return aboutMailing(rejection.code, shownStatus(rejection.currentStatus, null, true));
    case "too-many-mailing-tests":
      return toProblem(rejection.code, `Expected at most ${rejection.maxTests} tests of a mailing.`);
    case "approval-digest-differs":
      return toProblem(rejection.code, `digest is another one; expected ${rejection.digest}, which the mailing shows.`);
    case "approval-needs-keys":
      return toProblem(
        rejection.code,
        "Without keys nobody can be told from anybody else; expected requests with a key, one to start and another to approve.",
      );
    case "approval-needs-another-key":
      return toProblem(
        rejection.code,
        "The key is the one that asked; expected another key with the scope jobs:approve.",
      );
    case "undo-time-over": {
      const { undoUntil } = rejection;
      const detail = undoUntil === null ? "Its mails are on their way, or may be." : `It could be until ${undoUntil}.`;
      return toProblem(rejection.code, `${detail} expected POST …/cancel, which stops what was not sent yet.`);
    }
    case "schedule-not-found":
      return toProblem(rejection.code, "There is no schedule with this id.");
    case "schedule-deleted":
      return toProblem(rejection.code, "The schedule was deleted.");
    case "schedule-not-paused":
      return toProblem(rejection.code, "The schedule is active.");
    case "job-not-found":
      return toProblem(rejection.code, "There is no job with this id.");
    case "idempotency-key-reused":
      return toProblem(
        rejection.code,
        "This Idempotency-Key was used with another body before; expected the same body.",
      );
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
      return toProblem(rejection.code, "The content of this job has been erased.", {
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

const aboutMailing = (code: MailingRejection["code"], currentStatus: ShownStatus): Problem =>
  toProblem(code, `The mailing is ${currentStatus}.`, { currentStatus });

const whatMayBe =
  "The log may or may not have stored it. Send the same request again: with an Idempotency-Key the service creates one job, without one it may create two.";

/** The problem for an unexpected failure, with nothing of its inside; `loggedUnder` names the id that finds it in the logs. */
export function problemOfFailure(failure: unknown, loggedUnder: string): Problem {
  if (failure instanceof Unavailable) {
    return toProblem("event-log-unavailable", whatMayBe);
  }
  if (failure instanceof Archived) return toProblem("archived", `${failure.message}.`, { file: failure.file });
  if (failure instanceof LogFull) return problemOfRefusal({ code: "event-log-full" });
  return toProblem("internal-error", `The service has logged the failure under the ${loggedUnder}.`);
}
