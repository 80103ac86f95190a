import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Cause } from "../event-log/event-log.ts";

/** Who asks, and under which id the request is answered, logged and remembered in the log of events. */
export type RequestContext = {
  readonly requestId: string;
  readonly tenant: string;
  readonly actor: string;
};

/** An id from outside ends up in headers and log lines: only what cannot do harm there is taken over. */
const harmlessId = /^[\x21-\x7e]{1,128}$/;

/** The one place where a request gets its tenant and its actor. Without keys everybody is anonymous in one tenant. */
export function toRequestContext(headers: IncomingHttpHeaders): RequestContext {
  const given = headers["x-request-id"];
  return {
    requestId: typeof given === "string" && harmlessId.test(given) ? given : randomUUID(),
    tenant: "default",
    actor: "anonymous",
  };
}

export const toCause = ({ actor, requestId }: RequestContext): Cause => ({
  actor,
  correlationId: requestId,
  causationId: null,
});
