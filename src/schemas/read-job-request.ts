import { Type } from "typebox";
import { type Checked, type Fault, failed, passed, shown } from "./fault.ts";
import { faultAt } from "./faults-of.ts";
import { toInstant } from "./instant.ts";
import { address, anAddress, type JobRequest, jobFields, recipientObject, someRecipients } from "./job-request.ts";
import { checkRequest, closed } from "./request-schema.ts";
import { faultOfVariables } from "./variables.ts";

/** Enough to fill the list of faults of one answer. */
const enoughFaults = 50;

// Recipients are checked one by one: it can end after enough faults, and a union has no fault that people understand.
const checkFields = checkRequest(
  Type.Object({ ...jobFields, recipients: Type.Array(Type.Unknown(), someRecipients) }, closed),
);
const checkAddress = checkRequest(address);
const checkRecipientObject = checkRequest(recipientObject);

/**
 * Every fault of a request at once, of its shape as of its meaning. Subject and name come back trimmed, the priority
 * in lower case. Whoever calls has refused more than 1000 recipients before.
 */
export function readJobRequest(body: unknown): Checked<JobRequest> {
  const normal = isObject(body) ? normalised(body) : body;
  const checked = checkFields(normal);
  const faults = [
    ...(checked.valid ? [] : checked.faults),
    ...(isObject(normal) ? [...recipientFaults(normal["recipients"]), ...contradictions(normal)] : []),
  ];
  return faults.length === 0 ? passed(normal as JobRequest) : failed(faults);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function normalised(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const changed: Record<string, unknown> = { ...body };
  for (const field of ["subject", "name"]) {
    const value = body[field];
    // A line break at the end is no harmless space but the beginning of a header: it stays, and is refused.
    if (typeof value === "string" && !/\p{Cc}/u.test(value)) changed[field] = value.trim();
  }
  if (typeof body["priority"] === "string") changed["priority"] = body["priority"].toLowerCase();
  return changed;
}

function recipientFaults(recipients: unknown): readonly Fault[] {
  const faults: Fault[] = [];
  if (!Array.isArray(recipients)) return faults;
  for (const [index, one] of recipients.entries()) {
    faults.push(...faultsOfRecipient(one, `/recipients/${index}`));
    if (faults.length >= enoughFaults) break;
  }
  return faults;
}

function faultsOfRecipient(value: unknown, at: string): readonly Fault[] {
  if (!isObject(value)) {
    if (typeof value !== "string") return [faultAt(at, `is ${shown(value)}; expected ${anAddress}`)];
    const checked = checkAddress(value, at);
    return checked.valid ? [] : checked.faults;
  }
  const checked = checkRecipientObject(value, at);
  if (!checked.valid) return checked.faults;
  const { variables } = checked.value;
  const fault = variables === undefined ? null : faultOfVariables(variables);
  return fault === null ? [] : [faultAt(`${at}/variables`, fault)];
}

function contradictions(body: Readonly<Record<string, unknown>>): readonly Fault[] {
  const faults: Fault[] = [];
  if ("html" in body && "text" in body) {
    faults.push(faultAt("/text", "is given beside html; expected one of them, as body is the other part"));
  }
  const [scheduledAt, notAfter] = [body["scheduledAt"], body["notAfter"]].map((value) =>
    typeof value === "string" ? toInstant(value) : null,
  );
  if (scheduledAt && notAfter && notAfter < scheduledAt) {
    faults.push(faultAt("/notAfter", `is ${shown(notAfter)}; expected a time that is not before scheduledAt`));
  }
  return faults;
}
