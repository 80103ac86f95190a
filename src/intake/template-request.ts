import { Type } from "typebox";
import { digestOf } from "../content/encode-content.ts";
import type { StoredLetter } from "../content/template-store.ts";
import { defaultJobType } from "../domain/job/events.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { CallerRules } from "../job-kinds/job-kind.ts";
import { type Checked, failed, faultAt, faultsIn, passed } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { createRequestReader } from "../schemas/read-job-request.ts";
import { isObject } from "../schemas/request-form.ts";
import { checkRequest as checkFields, closed } from "../schemas/request-schema.ts";
import { faultOfVariables, variables } from "../schemas/variables.ts";
import { checkRequest } from "./check-request.ts";
import { canonicalJson } from "./draft-job.ts";

const { dryRun: _, ...kind } = kindOf(defaultJobType);
const { words, others } = kind.letter ?? { words: [], others: [] };
const names = new Set([...words, ...others]);
const fields = Object.fromEntries(Object.entries(kind.fields).filter(([name]) => names.has(name)));

/** The body of PUT /templates/:name as a schema: the words of a job, without its recipients and settings. */
export const templateRequest = Type.Object(fields, {
  ...closed,
  title: "TemplateRequest",
  examples: [{ subject: "Welcome, {{ name }}", html: "<p>Hello {{ name }}</p>", from: "Shop <shop@example.com>" }],
});

const readFields = createRequestReader([{ ...kind, fields, recipients: null }], kind.type);

/** The letter in a JSON value, as the request for a job that would have it; or all of its faults at once. */
export function checkTemplateRequest(body: unknown, rules: CallerRules): Checked<JobRequest> {
  const read = (value: unknown): Checked<JobRequest> => {
    if (!isObject(value)) return readFields(value);
    const foreign = Object.keys(value).filter((name) => !names.has(name));
    const request = readFields(Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name))));
    if (foreign.length === 0) return request;
    const faults = foreign.map((name) => faultAt(`/${name}`, "does not belong to a template"));
    return failed(faultsIn(failed(faults), request));
  };
  return checkRequest(body, rules, read);
}

/** The fields of a checked letter alone, and their digest. */
export function toStoredLetter(request: JobRequest): StoredLetter {
  const text = canonicalJson(Object.fromEntries(Object.entries(request).filter(([name]) => names.has(name))));
  return { text, sha256: digestOf(text) };
}

/** The body of POST /templates/:name/preview. */
export const previewRequest = Type.Object(
  {
    version: Type.Optional(Type.Integer({ minimum: 1, description: "the number of a version" })),
    email: Type.Optional(Type.String({ format: "email", description: "an address such as ada@example.com" })),
    variables: Type.Optional(variables),
  },
  {
    ...closed,
    title: "TemplatePreviewRequest",
    examples: [{ version: 1, email: "ada@example.com", variables: { name: "Ada" } }],
  },
);

const readPreview = checkFields(previewRequest);

export function checkPreviewRequest(body: unknown): ReturnType<typeof readPreview> {
  const request = readPreview(body);
  if (!request.valid || request.value.variables === undefined) return request;
  const fault = faultOfVariables(request.value.variables);
  return fault === null ? passed(request.value) : failed([faultAt("/variables", fault)]);
}
