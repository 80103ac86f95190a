import { Type } from "typebox";
import type { RetryScope } from "../domain/job/events.ts";
import { checkRequest, closed, singleLine } from "./request-schema.ts";

const scopes = ["failed", "unknown", "unsent"] as const satisfies readonly RetryScope[];

const reason = Type.Optional(
  Type.String({
    maxLength: 500,
    pattern: singleLine,
    description: "at most 500 characters, without control characters",
  }),
);

/** What DELETE /api/jobs/:jobId takes, if anything. */
export const cancelRequest = Type.Object({ reason }, closed);

/** What POST /api/jobs/:jobId/retry takes, if anything. */
export const retryRequest = Type.Object(
  { reason, scope: Type.Optional(Type.Enum([...scopes], { description: `one of ${scopes.join(", ")}` })) },
  closed,
);

export const readCancelRequest = checkRequest(cancelRequest);
export const readRetryRequest = checkRequest(retryRequest);
