import { Type } from "typebox";
import type { JobType } from "../domain/job/events.ts";
import { type Checked, type Fault, failed, faultAt, passed, shown } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { type JobRequest, jobFields } from "./job-request.ts";
import { faultFinder, fieldsOf, isObject, type RequestForm } from "./request-form.ts";
import { checkRequest } from "./request-schema.ts";

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads requests for jobs of these kinds and reports every fault at once, in form and in meaning. Subject and name come
 * back trimmed, the priority in lower case, the type set. The caller has already rejected more than 1000 recipients.
 */
export function createRequestReader(
  forms: readonly RequestForm[],
  usual: JobType,
): (body: unknown) => Checked<JobRequest> {
  const finders = new Map(forms.map((form) => [form.type, faultFinder(form)]));
  const fields = new Map(forms.map((form) => [form.type, new Set(Object.keys(fieldsOf(form)))]));
  const allFields = new Set([...fields.values()].flatMap((names) => [...names]));
  const trimmed = ["name", ...forms.flatMap(({ trimmed: own = [] }) => own)];
  // For an unknown kind the other fields are unknown too.
  const checkJobFields = checkRequest(Type.Object(jobFields, { description: "an object" }));
  const expectedType = `expected one of ${forms.map(({ type }) => type).join(", ")}`;

  const faultsOf = (body: Body): readonly Fault[] => {
    const type = body["type"] ?? usual;
    const find = finders.get(type as JobType);
    if (find === undefined || body["type"] === null) {
      const { type: _, ...rest } = body;
      const checked = checkJobFields(rest);
      const unknownType = faultAt("/type", `is ${shown(body["type"])}; ${expectedType}`);
      return [unknownType, ...(checked.valid ? [] : checked.faults), ...timeFaults(body)];
    }
    const own = fields.get(type as JobType);
    const foreign = Object.keys(body).filter((name) => allFields.has(name) && !own?.has(name));
    const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !foreign.includes(name)));
    return [
      ...foreign.map((name) => faultAt(`/${name}`, `does not belong to a job of type ${type}`)),
      ...find(rest),
      ...timeFaults(body),
    ];
  };

  return (body) => {
    if (!isObject(body)) return failed([faultAt("", `is ${shown(body)}; expected an object`)]);
    const normal = normalised(body, trimmed);
    const faults = faultsOf(normal);
    // The form has accepted it, so it has the type that the form describes.
    return faults.length === 0 ? passed({ ...normal, type: normal["type"] ?? usual } as JobRequest) : failed(faults);
  };
}

function normalised(body: Body, trimmed: readonly string[]): Body {
  const changed: Record<string, unknown> = { ...body };
  for (const field of trimmed) {
    const value = body[field];
    // A trailing line break is no harmless space but could start a header: it is kept, and rejected.
    if (typeof value === "string" && !/\p{Cc}/u.test(value)) changed[field] = value.trim();
  }
  if (typeof body["priority"] === "string") changed["priority"] = body["priority"].toLowerCase();
  return changed;
}

function timeFaults(body: Body): readonly Fault[] {
  const [scheduledAt, notAfter] = [body["scheduledAt"], body["notAfter"]].map((value) =>
    typeof value === "string" ? toInstant(value) : null,
  );
  if (!scheduledAt || !notAfter || notAfter >= scheduledAt) return [];
  return [faultAt("/notAfter", `is ${shown(notAfter)}; expected a time that is not before scheduledAt`)];
}
