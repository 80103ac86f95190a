import { type Problem, type ProblemCode, problemOfFaults, toProblem } from "../../problems/problem.ts";
import { problemOfRefusal } from "../../problems/problem-of-refusal.ts";
import { problemOfRejection } from "../../problems/problem-of-rejection.ts";
import type { Fault } from "../../schemas/fault.ts";
import type { Answer } from "./answer.ts";

export const problemType = "application/problem+json";

type Extras = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>;
};

/** A problem document of RFC 9457; its `requestId` is added where it is sent. */
export const refuse = (code: ProblemCode, detail: string, { headers = {}, members = {} }: Extras = {}): Answer =>
  answerProblem(toProblem(code, detail, members), headers);

export const answerProblem = (problem: Problem, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: problem.status,
  type: problemType,
  headers,
  body: problem,
});

/** For what may be over soon. */
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
