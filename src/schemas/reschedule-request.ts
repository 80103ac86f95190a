import { type Static, Type } from "typebox";
import type { Instant } from "../domain/message.ts";
import { type Checked, failed, passed } from "./fault.ts";
import { faultAt } from "./faults-of.ts";
import { toInstant } from "./instant.ts";
import { reason } from "./job-action-request.ts";
import { jobFields } from "./job-request.ts";
import { checkRequest, closed } from "./request-schema.ts";

/** What PATCH /api/jobs/:jobId takes: null is now, what is left out stays as it is. */
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
  closed,
);

/** The time as the service writes it, the priority in lower case. */
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
