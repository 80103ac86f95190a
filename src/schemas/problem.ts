import type { JobRejection } from "../domain/job/state.ts";
import type { MailingRejection } from "../domain/mailing/state.ts";
import type { ScheduleRejection } from "../domain/schedule/decider.ts";
import type { Fault } from "./fault.ts";

/** The domain's refusals, with their HTTP status. */
const rejectionStatus = {
  "job-not-found": 404,
  "idempotency-key-reused": 422,
  "job-has-ended": 409,
  "job-has-not-ended": 409,
  "job-has-started": 409,
  "content-erased": 409,
  "scheduled-too-late": 400,
  "job-not-failed": 409,
  "job-requeued": 409,
  "job-not-paused": 409,
  "turn-not-open": 409,
  "too-many-takeovers": 409,
  "lease-lost": 409,
  "dead-letter-not-found": 404,
  "dead-letter-closed": 409,
  "mailing-not-found": 404,
  "mailing-is-empty": 409,
  "mailing-is-full": 409,
  "mailing-has-started": 409,
  "mailing-not-started": 409,
  "mailing-not-paused": 409,
  "mailing-has-ended": 409,
  "undo-time-over": 409,
  "mailing-has-not-ended": 409,
  "mailing-has-not-failed": 409,
  "too-many-mailing-tests": 409,
  "mailing-awaits-approval": 409,
  "mailing-not-awaiting-approval": 409,
  "approval-digest-differs": 409,
  "approval-needs-keys": 409,
  "approval-needs-another-key": 403,
  "schedule-not-found": 404,
  "schedule-deleted": 409,
  "schedule-not-paused": 409,
} as const satisfies Record<(JobRejection | MailingRejection | ScheduleRejection)["code"], number>;

/** Problems that never reach the domain. */
const refusalStatus = {
  "too-many-webhook-endpoints": 409,
  "too-many-schedules": 409,
  "mailing-import-conflict": 409,
  "template-not-found": 404,
  "too-many-template-versions": 409,
  "nobody-left": 409,
  "more-than-expected": 409,
  "jobs-not-ended": 409,
  "job-not-completed": 409,
  "result-not-found": 404,
  "result-erased": 410,
  archived: 410,
  "invalid-json": 400,
  "validation-failed": 400,
  "invalid-request": 400,
  "key-missing": 401,
  "key-invalid": 401,
  "scope-missing": 403,
  "route-not-found": 404,
  "mail-not-found": 404,
  "suppression-not-found": 404,
  "webhook-endpoint-not-found": 404,
  "webhook-delivery-not-found": 404,
  "notification-not-found": 404,
  "projection-not-found": 404,
  "mail-route-not-found": 404,
  "mail-route-is-default": 409,
  "too-many-mail-routes": 409,
  "secrets-key-missing": 409,
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
  "too-many-past-readers": 429,
  "headers-too-large": 431,
  "internal-error": 500,
  "no-stream-left": 503,
  "no-room-for-body": 503,
  "too-many-imports": 503,
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
  "job-has-not-ended": "The job has not ended",
  "job-has-started": "The job has started",
  "scheduled-too-late": "The job would start too late",
  "job-not-failed": "The job has not failed, and no recipient of it has",
  "job-requeued": "The job was run again as another job",
  "job-not-paused": "The job is not paused",
  "turn-not-open": "It is not this attempt's turn",
  "too-many-takeovers": "The attempt was taken over too often",
  "lease-lost": "Another worker holds the attempt",
  "dead-letter-not-found": "No such dead letter",
  "dead-letter-closed": "The dead letter is already decided",
  "mailing-not-found": "No such mailing",
  "mailing-is-empty": "The mailing has no recipients",
  "mailing-is-full": "The mailing takes no more recipients",
  "mailing-has-started": "The mailing has started",
  "mailing-not-started": "The mailing has not started",
  "mailing-not-paused": "The mailing is not paused",
  "mailing-has-ended": "The mailing has ended",
  "undo-time-over": "The mailing can no longer be taken back",
  "mailing-has-not-ended": "The mailing has not ended",
  "mailing-has-not-failed": "No part of the mailing has failed",
  "too-many-mailing-tests": "The mailing was tested too often",
  "mailing-awaits-approval": "The mailing awaits approval",
  "mailing-not-awaiting-approval": "The mailing does not await approval",
  "approval-digest-differs": "The digest is not that of what is to be approved",
  "approval-needs-keys": "An approval needs API keys",
  "approval-needs-another-key": "Another key has to decide",
  "schedule-not-found": "No such schedule",
  "schedule-deleted": "The schedule is deleted",
  "schedule-not-paused": "The schedule is not paused",
  "too-many-schedules": "Too many schedules",
  "mailing-import-conflict": "Recipients are being added already",
  "too-many-webhook-endpoints": "Too many webhook endpoints",
  "template-not-found": "No such template",
  "too-many-template-versions": "Too many versions of the template",
  "nobody-left": "No recipient is left to be mailed",
  "more-than-expected": "More match than were expected",
  "jobs-not-ended": "Some jobs have not ended",
  "content-erased": "The content was erased",
  "job-not-completed": "The job is not completed",
  "result-not-found": "The job makes no file",
  "result-erased": "The file was erased",
  archived: "It is in the archive",
  "invalid-json": "The body is not valid JSON",
  "validation-failed": "The request breaks a rule",
  "invalid-request": "The request is not valid HTTP",
  "key-missing": "An API key is needed",
  "key-invalid": "The API key is not valid",
  "scope-missing": "The API key may not do this",
  "route-not-found": "No such route",
  "mail-not-found": "No such mail",
  "suppression-not-found": "No such suppression",
  "webhook-endpoint-not-found": "No such webhook endpoint",
  "webhook-delivery-not-found": "No such webhook delivery",
  "notification-not-found": "No such notification",
  "projection-not-found": "No such read model",
  "mail-route-not-found": "No such mail route",
  "mail-route-is-default": "The default mail route is a setting",
  "too-many-mail-routes": "Too many mail routes",
  "secrets-key-missing": "No key to encrypt with",
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
  "too-many-past-readers": "Too many readers of the past of this tenant",
  "no-stream-left": "No stream is left here",
  "no-room-for-body": "No room for the body now",
  "too-many-imports": "Too many imports now",
  "headers-too-large": "The headers are too large",
  "internal-error": "Something went wrong on our side",
  "keys-unavailable": "The API keys cannot be checked",
  "event-log-unavailable": "The event log cannot be reached",
  "event-log-full": "The event log is full",
  "read-model-unavailable": "The read model cannot be reached",
  "read-model-behind": "The read model is behind",
  "not-ready": "Not ready",
};

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(titles, code);

export const titleOf = (code: ProblemCode): string => titles[code];

/** Every code, with its status and title. */
export const problemCodes = (Object.keys(titles) as readonly ProblemCode[]).map((code) => ({
  code,
  status: statusOf[code],
  title: titles[code],
}));

/** A problem document of RFC 9457. The sender may add members, as HTTP does with `requestId`. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
};

/** `members` are further members of the document. */
export const toProblem = (
  code: ProblemCode,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Problem => ({
  type: `urn:waybill:problem:${code}`,
  title: titles[code],
  status: statusOf[code],
  detail,
  code,
  ...members,
});

/** All faults of a request in one document. */
export function problemOfFaults(faults: readonly Fault[]): Problem {
  const [first, ...others] = faults;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return toProblem("validation-failed", `${first?.message}${more}.`, { errors: faults });
}
