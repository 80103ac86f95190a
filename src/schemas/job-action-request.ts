import { Type } from "typebox";
import type { RetryScope } from "../domain/job/events.ts";
import { checkRequest, closed, singleLine } from "./request-schema.ts";

const scopes = ["failed", "unknown", "unsent"] as const satisfies readonly RetryScope[];

export const reason = Type.Optional(
  Type.String({
    maxLength: 500,
    pattern: singleLine,
    description: "at most 500 characters, without control characters",
  }),
);
export const someReason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: singleLine,
  description: "1 to 500 characters, without control characters",
});

/** What a change takes, if anything, that nothing but its reason is said about: to cancel, pause, resume, requeue. */
export const changeRequest = Type.Object({ reason }, closed);

/** What POST /api/jobs/:jobId/retry takes, if anything. */
export const retryRequest = Type.Object(
  { reason, scope: Type.Optional(Type.Enum([...scopes], { description: `one of ${scopes.join(", ")}` })) },
  closed,
);

/** What POST /api/dead-letters/:id/ignore takes: nobody shall have to guess later why. */
export const ignoreRequest = Type.Object({ reason: someReason }, closed);

export const readChangeRequest = checkRequest(changeRequest);
export const readRetryRequest = checkRequest(retryRequest);
export const readIgnoreRequest = checkRequest(ignoreRequest);
