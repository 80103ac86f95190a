import type { JobRejection } from "../../domain/job/state.ts";
import type { MailingRejection } from "../../domain/mailing/state.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import { Archived, LogFull } from "../../event-log/log-failures.ts";
import { problemOfFailure, problemOfRefusal, problemOfRejection } from "../../intake/problem-of.ts";
import type { Fault } from "../../schemas/fault.ts";
import { type Problem, type ProblemCode, problemOfFaults, toProblem } from "../../schemas/problem.ts";

/** The answer of a route, before it becomes bytes. `body` is a JSON value, bytes of another type, or a stream of them. */
export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /**
   * The answer to send instead, once it is ready: called after the request's body has been given back. How long the service
   * takes to answer is measured without it: it is for what clients ask to wait for.
   */
  readonly later?: () => Promise<Answer>;
};

export const json = (body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Answer => ({
  status,
  type: "application/json",
  headers,
  body,
});

export const problemType = "application/problem+json";

type Extras = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem document. */
  readonly members?: Readonly<Record<string, unknown>>;
};

/** A problem document of RFC 9457; the server adds `requestId` when it sends the document. */
export const refuse = (code: ProblemCode, detail: string, { headers = {}, members = {} }: Extras = {}): Answer =>
  answerProblem(toProblem(code, detail, members), headers);

export const answerProblem = (problem: Problem, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: problem.status,
  type: problemType,
  headers,
  body: problem,
});

/** For a condition that may be over soon. */
export const refuseForNow = (code: ProblemCode, detail: string, retryAfterSeconds: number): Answer =>
  refuse(code, detail, { headers: retryAfter(retryAfterSeconds) });

export const retryAfter = (seconds: number): Readonly<Record<string, string>> => ({ "Retry-After": String(seconds) });

export const refuseForNoRoom = (): Answer =>
  answerProblem(problemOfRefusal({ code: "event-log-full" }), retryAfter(60));

export const refuseFaults = (faults: readonly Fault[]): Answer => answerProblem(problemOfFaults(faults));

export const deadLetterNotFound = (): Answer => answerProblem(problemOfRejection({ code: "dead-letter-not-found" }));

export const jobNotFound = (): Answer => answerProblem(problemOfRejection({ code: "job-not-found" }));

export const webhookEndpointNotFound = (): Answer =>
  refuse("webhook-endpoint-not-found", "There is no webhook endpoint with this id.");

export const webhookDeliveryNotFound = (): Answer =>
  refuse("webhook-delivery-not-found", "There is no delivery with this id to this endpoint.");

export const refuseRejection = (rejection: JobRejection): Answer => answerProblem(problemOfRejection(rejection));

export const refuseMailing = (rejection: MailingRejection): Answer => answerProblem(problemOfRejection(rejection));

export const mailingNotFound = (): Answer => refuseMailing({ code: "mailing-not-found" });

/** A read model could not be queried. The log, and with it every command, may work as well as ever. */
export class ReadModelUnavailable extends Error {
  override readonly name = "ReadModelUnavailable";
}

/** The answer to an unexpected failure; it reveals nothing of the inside. */
export function answerFailure(failure: unknown): Answer {
  const problem = problemOfFailure(failure, "requestId of this answer");
  if (failure instanceof Unavailable) return answerProblem(problem, retryAfter(2));
  if (failure instanceof LogFull) return refuseForNoRoom();
  if (failure instanceof ReadModelUnavailable) {
    return refuseForNow("read-model-unavailable", "The service still accepts and sends jobs. Try again.", 2);
  }
  return answerProblem(problem);
}

/** Nothing of the service is wrong, but something it needs is away: a server, or a file of the archive. Anything else is a defect. */
export const isOutage = (failure: unknown): boolean =>
  failure instanceof Unavailable ||
  failure instanceof LogFull ||
  failure instanceof Archived ||
  failure instanceof ReadModelUnavailable;
