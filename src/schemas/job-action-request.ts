import { type Static, Type } from "typebox";
import type { RetryScope } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import { type Checked, failed, faultAt, passed } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { jobFields } from "./job-request.ts";
import { checkRequest, closed, singleLine } from "./request-schema.ts";

const scopes = ["failed", "unknown", "unsent"] as const satisfies readonly RetryScope[];

/** The log keeps a reason for ever, and no erasure reaches it there: it must not contain an address. */
const kept = { maxLength: 500, pattern: singleLine, not: { pattern: "\\S@\\S" } } as const;
const without = "without control characters and addresses, as it is kept for good";

export const expectedReason = `1 to 500 characters, ${without}`;

const reason = Type.Optional(Type.String({ ...kept, description: `at most 500 characters, ${without}` }));
export const someReason = Type.String({ ...kept, minLength: 1, description: expectedReason });

/** The optional body of an action that takes only a reason: cancel, pause, resume, requeue. */
export const changeRequest = Type.Object(
  { reason },
  { ...closed, examples: [{ reason: "the edition was withdrawn" }] },
);

/** The optional body of POST /api/jobs/:jobId/retry. */
export const retryRequest = Type.Object(
  { reason, scope: Type.Optional(Type.Enum([...scopes], { description: `one of ${scopes.join(", ")}` })) },
  { ...closed, examples: [{ reason: "the mail server is back", scope: "failed" }] },
);

/** The body of POST /api/dead-letters/:id/ignore: the reason is required, so that it can be read later. */
export const ignoreRequest = Type.Object(
  { reason: someReason },
  { ...closed, examples: [{ reason: "the customer was called instead" }] },
);

export const readChangeRequest = checkRequest(changeRequest);
export const readRetryRequest = checkRequest(retryRequest);
export const readIgnoreRequest = checkRequest(ignoreRequest);

/** The body of PATCH /api/jobs/:jobId: null is now, an absent field stays as it is. */
export const rescheduleRequest = Type.Object(
  {
    scheduledAt: Type.Optional(
      Type.Unsafe<string | null>({
        type: ["string", "null"],
        format: "date-time",
        description: "a time such as 2026-11-21T09:30:00.000Z, or null for now",
      }),
    ),
    priority: jobFields.priority,
    reason,
  },
  { ...closed, examples: [{ scheduledAt: "2037-01-01T08:00:00.000Z", priority: "high", reason: "it is urgent" }] },
);

/** The time in the service's own format, the priority in lower case. */
type Reschedule = Omit<Static<typeof rescheduleRequest>, "scheduledAt"> & { readonly scheduledAt?: Instant | null };

const check = checkRequest(rescheduleRequest);

export function readRescheduleRequest(body: unknown): Checked<Reschedule> {
  const checked = check(normalised(body));
  if (!checked.valid) return checked;
  const { scheduledAt, ...others } = checked.value;
  if (scheduledAt === undefined && others.priority === undefined) {
    return failed([faultAt("", "changes nothing; expected scheduledAt or priority")]);
  }
  if (typeof scheduledAt !== "string") return passed(scheduledAt === undefined ? others : { ...others, scheduledAt });
  return passed({ ...others, scheduledAt: toInstant(scheduledAt) });
}

const normalised = (body: unknown): unknown => {
  const priority = (body as { readonly priority?: unknown } | null | undefined)?.priority;
  return typeof priority === "string" ? { ...(body as object), priority: priority.toLowerCase() } : body;
};
