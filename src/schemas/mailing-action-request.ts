import { type Static, Type } from "typebox";
import type { Instant } from "../domain/message.ts";
import { address } from "./email-address.ts";
import { type Checked, failed, faultAt, passed } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { jobFields } from "./job-request.ts";
import { checkRequest, closed } from "./request-schema.ts";
import { faultOfVariables, variables } from "./variables.ts";

/** The optional body of POST /api/mailings/:mailingId/start. */
export const startRequest = Type.Object(
  { scheduledAt: jobFields.scheduledAt },
  { ...closed, examples: [{ scheduledAt: "2037-01-01T08:00:00.000Z" }] },
);

const check = checkRequest(startRequest);

/** The body of POST /api/mailings/:mailingId/approve: whoever approves says what was looked at. */
export const approvalRequest = Type.Object(
  { digest: Type.String({ pattern: "^[0-9a-f]{64}$", description: "a SHA-256 in lower-case hex" }) },
  { ...closed, examples: [{ digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }] },
);

/** The body of POST /api/mailings/:mailingId/test. */
export const testRequest = Type.Object(
  {
    to: Type.Array(address, { minItems: 1, maxItems: 5, description: "an array of 1 to 5 addresses" }),
    variables: Type.Optional(variables),
  },
  { ...closed, examples: [{ to: ["editor@example.com"], variables: { name: "Editor" } }] },
);

export type TestRequest = Static<typeof testRequest>;

const checkTest = checkRequest(testRequest);

export function readTestRequest(body: unknown): Checked<TestRequest> {
  const checked = checkTest(body ?? {});
  const fault = checked.valid && checked.value.variables ? faultOfVariables(checked.value.variables) : null;
  return fault === null ? checked : failed([faultAt("/variables", fault)]);
}

export const readApprovalRequest = checkRequest(approvalRequest);

/** The time in the service's own format; null is now. */
export function readStartRequest(body: unknown): Checked<{ readonly scheduledAt: Instant | null }> {
  const checked: Checked<Static<typeof startRequest>> = check(body ?? {});
  if (!checked.valid) return checked;
  const { scheduledAt } = checked.value;
  return passed({ scheduledAt: scheduledAt === undefined ? null : toInstant(scheduledAt) });
}
