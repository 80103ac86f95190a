import type { JobRejection } from "../domain/job/decider.ts";
import type { Fault } from "../schemas/fault.ts";
import type { Answer } from "./answer.ts";

export const problemType = "application/problem+json";

/** What the domain refuses, as HTTP says it. */
const rejectionStatus = {
  "job-not-found": 404,
  "idempotency-key-reused": 422,
  "job-has-ended": 409,
  "job-has-started": 409,
  "scheduled-too-late": 400,
  "job-not-failed": 409,
  "job-requeued": 409,
  "job-not-paused": 409,
  "turn-not-open": 409,
  "lease-lost": 409,
  "dead-letter-not-found": 404,
  "dead-letter-closed": 409,
} as const satisfies Record<JobRejection["code"], number>;

/** What never reaches the domain. */
const refusalStatus = {
  "too-many-webhook-endpoints": 409,
  "nobody-left": 409,
  "content-erased": 409,
  "invalid-json": 400,
  "validation-failed": 400,
  "invalid-request": 400,
  "key-missing": 401,
  "key-invalid": 401,
  "scope-missing": 403,
  "route-not-found": 404,
  "mail-not-found": 404,
  "webhook-endpoint-not-found": 404,
  "webhook-delivery-not-found": 404,
  "method-not-allowed": 405,
  "not-acceptable": 406,
  "request-timeout": 408,
  "body-too-large": 413,
  "too-many-recipients": 413,
  "content-too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  "quota-exceeded": 429,
  "too-many-streams": 429,
  "headers-too-large": 431,
  "internal-error": 500,
  "no-stream-left": 503,
  "keys-unavailable": 503,
  "event-log-unavailable": 503,
  "event-log-full": 503,
  "read-model-unavailable": 503,
  "read-model-behind": 503,
  "not-ready": 503,
} as const;

const statusOf = { ...rejectionStatus, ...refusalStatus };

export type ProblemCode = keyof typeof statusOf;

const titles: Record<ProblemCode, string> = {
  "job-not-found": "No such job",
  "idempotency-key-reused": "The idempotency key belongs to another request",
  "job-has-ended": "The job has ended",
  "job-has-started": "The job has started",
  "scheduled-too-late": "The job would start too late",
  "job-not-failed": "The job has not failed",
  "job-requeued": "The job was run again as another job",
  "job-not-paused": "The job is not paused",
  "turn-not-open": "It is not this attempt's turn",
  "lease-lost": "The attempt belongs to somebody else",
  "dead-letter-not-found": "No such dead letter",
  "dead-letter-closed": "Somebody has decided about the dead letter",
  "too-many-webhook-endpoints": "Too many webhook endpoints",
  "nobody-left": "Nobody is left to be mailed",
  "content-erased": "The content was erased",
  "invalid-json": "The body is not valid JSON",
  "validation-failed": "The request breaks a rule",
  "invalid-request": "The request is not valid HTTP",
  "key-missing": "An API key is needed",
  "key-invalid": "The API key is not valid",
  "scope-missing": "The API key may not do this",
  "route-not-found": "No such route",
  "mail-not-found": "No such mail",
  "webhook-endpoint-not-found": "No such webhook endpoint",
  "webhook-delivery-not-found": "No such webhook delivery",
  "method-not-allowed": "The method is not allowed here",
  "not-acceptable": "No acceptable type of answer",
  "request-timeout": "The request took too long to arrive",
  "body-too-large": "The body is too large",
  "too-many-recipients": "Too many recipients",
  "content-too-large": "The content is too large",
  "unsupported-media-type": "The body is not of a supported type",
  "rate-limited": "Too many requests",
  "quota-exceeded": "Too many recipients today",
  "too-many-streams": "Too many streams of this tenant",
  "no-stream-left": "No stream is left here",
  "headers-too-large": "The headers are too large",
  "internal-error": "Something went wrong on our side",
  "keys-unavailable": "The API keys cannot be checked",
  "event-log-unavailable": "The event log cannot be reached",
  "event-log-full": "The event log is full",
  "read-model-unavailable": "The read model cannot be reached",
  "read-model-behind": "The read model is behind",
  "not-ready": "Not ready",
};

type Extras = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>;
};

/** A problem document of RFC 9457; its `requestId` is added where it is sent. */
export function refuse(code: ProblemCode, detail: string, { headers = {}, members = {} }: Extras = {}): Answer {
  const status = statusOf[code];
  const body = { type: `urn:waybill:problem:${code}`, title: titles[code], status, detail, code, ...members };
  return { status, type: problemType, headers, body };
}

/** For what may be over soon. */
export const refuseForNow = (code: ProblemCode, detail: string, retryAfterSeconds: number): Answer =>
  refuse(code, detail, { headers: { "Retry-After": String(retryAfterSeconds) } });

export const refuseForNoRoom = (): Answer =>
  refuseForNow("event-log-full", "Nothing was accepted. Operators have to make room.", 60);

export function refuseFaults(faults: readonly Fault[]): Answer {
  const [first, ...others] = faults;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return refuse("validation-failed", `${first?.message}${more}.`, { members: { errors: faults } });
}

export const deadLetterNotFound = (): Answer =>
  refuse("dead-letter-not-found", "There is no dead letter with this id.");

export const jobNotFound = (): Answer => refuse("job-not-found", "There is no job with this id.");

export const webhookEndpointNotFound = (): Answer =>
  refuse("webhook-endpoint-not-found", "There is no webhook endpoint with this id.");

export const webhookDeliveryNotFound = (): Answer =>
  refuse("webhook-delivery-not-found", "There is no delivery with this id to this endpoint.");
