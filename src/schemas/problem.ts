import type { JobRejection } from "../domain/job/state.ts";
import type { MailingRejection } from "../domain/mailing/state.ts";
import type { ScheduleRejection } from "../domain/schedule/decider.ts";
import type { Fault } from "./fault.ts";

type StatusAndTitle = readonly [status: number, title: string];

/** The domain's refusals: the HTTP status, and the title. */
const rejections = {
  "job-not-found": [404, "No such job"],
  "idempotency-key-reused": [422, "The idempotency key belongs to another request"],
  "job-has-ended": [409, "The job has ended"],
  "job-has-not-ended": [409, "The job has not ended"],
  "job-has-started": [409, "The job has started"],
  "scheduled-too-late": [400, "The job would start too late"],
  "job-not-failed": [409, "The job has not failed, and no recipient of it has"],
  "job-requeued": [409, "The job was run again as another job"],
  "job-not-paused": [409, "The job is not paused"],
  "turn-not-open": [409, "It is not this attempt's turn"],
  "too-many-takeovers": [409, "The attempt was taken over too often"],
  "lease-lost": [409, "Another worker holds the attempt"],
  "dead-letter-not-found": [404, "No such dead letter"],
  "dead-letter-closed": [409, "The dead letter is already decided"],
  "mailing-not-found": [404, "No such mailing"],
  "mailing-is-empty": [409, "The mailing has no recipients"],
  "mailing-is-full": [409, "The mailing takes no more recipients"],
  "mailing-has-started": [409, "The mailing has started"],
  "mailing-not-started": [409, "The mailing has not started"],
  "mailing-not-paused": [409, "The mailing is not paused"],
  "mailing-has-ended": [409, "The mailing has ended"],
  "undo-time-over": [409, "The mailing can no longer be taken back"],
  "mailing-has-not-ended": [409, "The mailing has not ended"],
  "mailing-has-not-failed": [409, "No part of the mailing has failed"],
  "too-many-mailing-tests": [409, "The mailing was tested too often"],
  "mailing-awaits-approval": [409, "The mailing awaits approval"],
  "mailing-not-awaiting-approval": [409, "The mailing does not await approval"],
  "approval-digest-differs": [409, "The digest is not that of what is to be approved"],
  "approval-needs-keys": [409, "An approval needs API keys"],
  "approval-needs-another-key": [403, "Another key has to decide"],
  "schedule-not-found": [404, "No such schedule"],
  "schedule-deleted": [409, "The schedule is deleted"],
  "schedule-not-paused": [409, "The schedule is not paused"],
  "content-erased": [409, "The content was erased"],
} as const satisfies Record<(JobRejection | MailingRejection | ScheduleRejection)["code"], StatusAndTitle>;

/** Problems that never reach the domain. */
const refusals = {
  "too-many-schedules": [409, "Too many schedules"],
  "too-many-open-mailings": [409, "Too many mailings are open"],
  "mailing-import-conflict": [409, "Recipients are being added already"],
  "too-many-webhook-endpoints": [409, "Too many webhook endpoints"],
  "template-not-found": [404, "No such template"],
  "too-many-template-versions": [409, "Too many versions of the template"],
  "nobody-left": [409, "No recipient is left to be mailed"],
  "more-than-expected": [409, "More match than were expected"],
  "jobs-not-ended": [409, "Some jobs have not ended"],
  "job-not-completed": [409, "The job is not completed"],
  "result-not-found": [404, "The job makes no file"],
  "result-erased": [410, "The file was erased"],
  archived: [410, "It is in the archive"],
  "invalid-json": [400, "The body is not valid JSON"],
  "validation-failed": [400, "The request breaks a rule"],
  "invalid-request": [400, "The request is not valid HTTP"],
  "key-missing": [401, "An API key is needed"],
  "key-invalid": [401, "The API key is not valid"],
  "scope-missing": [403, "The API key may not do this"],
  "route-not-found": [404, "No such route"],
  "mail-not-found": [404, "No such mail"],
  "suppression-not-found": [404, "No such suppression"],
  "webhook-endpoint-not-found": [404, "No such webhook endpoint"],
  "webhook-delivery-not-found": [404, "No such webhook delivery"],
  "notification-not-found": [404, "No such notification"],
  "projection-not-found": [404, "No such read model"],
  "mail-route-not-found": [404, "No such mail route"],
  "mail-route-is-default": [409, "The default mail route is a setting"],
  "too-many-mail-routes": [409, "Too many mail routes"],
  "secrets-key-missing": [409, "No key to encrypt with"],
  "method-not-allowed": [405, "The method is not allowed here"],
  "not-acceptable": [406, "No acceptable type of answer"],
  "request-timeout": [408, "The request took too long to arrive"],
  "body-too-large": [413, "The body is too large"],
  "too-many-recipients": [413, "Too many recipients"],
  "content-too-large": [413, "The content is too large"],
  "unsupported-media-type": [415, "The body is not of a supported type"],
  "rate-limited": [429, "Too many requests"],
  "quota-exceeded": [429, "Too many recipients today"],
  "too-many-streams": [429, "Too many streams of this tenant"],
  "too-many-past-readers": [429, "Too many readers of the past of this tenant"],
  "no-stream-left": [503, "No stream is left here"],
  "no-room-for-body": [503, "No room for the body now"],
  "too-many-imports": [503, "Too many imports now"],
  "headers-too-large": [431, "The headers are too large"],
  "internal-error": [500, "Something went wrong on our side"],
  "keys-unavailable": [503, "The API keys cannot be checked"],
  "event-log-unavailable": [503, "The event log cannot be reached"],
  "event-log-full": [503, "The event log is full"],
  "read-model-unavailable": [503, "The read model cannot be reached"],
  "read-model-behind": [503, "The read model is behind"],
  "not-ready": [503, "Not ready"],
} as const satisfies Record<string, StatusAndTitle>;

const problems = { ...rejections, ...refusals };

export type ProblemCode = keyof typeof problems;

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

export const titleOf = (code: ProblemCode): string => problems[code][1];

/** Every code, with its status and title. */
export const problemCodes = (Object.keys(problems) as readonly ProblemCode[]).map((code) => {
  const [status, title] = problems[code];
  return { code, status, title };
});

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
): Problem => {
  const [status, title] = problems[code];
  return { type: `urn:waybill:problem:${code}`, title, status, detail, code, ...members };
};

/** Where a text was cut off, half of a surrogate pair may be left, which MySQL and many clients refuse in JSON. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\u{FFFD}");

/** All faults of a request in one document. */
export function problemOfFaults(found: readonly Fault[]): Problem {
  const faults = found.map(({ pointer, message }) => ({ pointer: wellFormed(pointer), message: wellFormed(message) }));
  const [first, ...others] = faults;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return toProblem("validation-failed", `${first?.message}${more}.`, { errors: faults });
}
