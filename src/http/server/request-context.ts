import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../../access/access.ts";
import { defaultTenant } from "../../domain/tenant.ts";
import type { Cause, JobRef, RunRef } from "../../event-log/event-log.ts";
import { newTraceparent, readTraceparent } from "../../event-log/traceparent.ts";

/** The caller, and the id under which the request is answered, logged and stored in events. */
export type RequestContext = Caller & {
  readonly requestId: string;
  /** The trace of the request: the one that its sender gave, or a new one. */
  readonly traceparent: string;
};

/** An id from outside ends up in headers, log lines and events: only characters that do no harm there, and no address. */
const harmlessId = /^[\x21-\x3f\x41-\x7e]{1,128}$/;

/** The caller before the key is checked. */
const unknownCaller: Caller = {
  tenant: defaultTenant,
  actor: "anonymous",
  limits: { senders: null, dailyRecipients: null, approvalAbove: null },
};

export function toRequestContext(headers: IncomingHttpHeaders): RequestContext {
  const given = headers["x-request-id"];
  return {
    requestId: typeof given === "string" && harmlessId.test(given) ? given : randomUUID(),
    traceparent: readTraceparent(headers["traceparent"]) ?? newTraceparent(),
    ...unknownCaller,
  };
}

/** The one place that sets the tenant and the actor of a request. */
export const signedIn = ({ requestId, traceparent }: RequestContext, caller: Caller): RequestContext => ({
  requestId,
  traceparent,
  ...caller,
});

export const toCause = ({ actor, requestId, traceparent }: RequestContext): Cause => ({
  actor,
  correlationId: requestId,
  causationId: null,
  traceparent,
});

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The job that a path names, of the caller's tenant; null for what cannot be the id of any job. */
export function toJobRef({ tenant }: RequestContext, text: string): JobRef | null {
  const jobId = text.toLowerCase();
  return uuid.test(jobId) ? { tenant, jobId } : null;
}

/** The run that a path names, `<jobId>.<run>`; null for what cannot name a run. */
export function toRunRef(context: RequestContext, text: string): RunRef | null {
  const [, jobId = "", run] = /^([^.]+)\.([1-9]\d{0,8})$/.exec(text) ?? [];
  const job = toJobRef(context, jobId);
  return job === null ? null : { job, run: Number(run) };
}
