import { Type } from "typebox";
import type { JobType } from "../domain/job/events.ts";
import { type Checked, type Fault, failed, faultAt, passed, shown } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { type JobRequest, jobFields } from "./job-request.ts";
import { faultFinder, fieldsOf, isObject, type RequestForm } from "./request-form.ts";
import { checkRequest } from "./request-schema.ts";

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads requests for jobs of these kinds: every fault at once, of the shape as of the meaning. Subject and name come
 * back trimmed, the priority in lower case, the type named. Whoever calls has refused more than 1000 recipients before.
 */
export function createRequestReader(
  forms: readonly RequestForm[],
  usual: JobType,
): (body: unknown) => Checked<JobRequest> {
  const finders = new Map(forms.map((form) => [form.type, faultFinder(form)]));
  const fields = new Map(forms.map((form) => [form.type, new Set(Object.keys(fieldsOf(form)))]));
  const allFields = new Set([...fields.values()].flatMap((names) => [...names]));
  const trimmed = ["name", ...forms.flatMap(({ trimmed: own = [] }) => own)];
  // Of a kind that is not known, nobody can say what else it takes.
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
    // What its form has let through is what the form describes.
    return faults.length === 0 ? passed({ ...normal, type: normal["type"] ?? usual } as JobRequest) : failed(faults);
  };
}

function normalised(body: Body, trimmed: readonly string[]): Body {
  const changed: Record<string, unknown> = { ...body };
  for (const field of trimmed) {
    const value = body[field];
    // A line break at the end is no harmless space but the beginning of a header: it stays, and is refused.
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
