import { type ProblemCode, toProblem } from "../../schemas/problem.ts";
import { fieldExamples } from "./field-examples.ts";
import { ownExamples } from "./own-examples.ts";

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/**
 * What a value of this schema looks like: the example that is written beside it; else made of the examples of its fields.
 * Throws where a text or a number has none, so that none is left without.
 */
export function exampleOf(schema: unknown, owner = "", field = ""): unknown {
  const whole: Schema = isSchema(schema) ? schema : {};
  const { title, examples, anyOf, items, properties } = whole;
  if (Array.isArray(examples)) return examples[0];
  if ("const" in whole) return whole["const"];
  for (const [table, name] of [
    [ownExamples, `${owner}.${field}`],
    [ownExamples, String(title)],
    [fieldExamples, field],
  ] as const) {
    if (Object.hasOwn(table, name) && fits(table[name], whole)) return table[name];
  }
  if (Array.isArray(whole["enum"])) return whole["enum"][0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], owner, field);
  if (whole["type"] === "array") return [exampleOf(items, owner, field)];
  if (isSchema(properties)) return exampleOfFields(properties, typeof title === "string" ? title : owner);
  if (whole["type"] === "object") return exampleOfRecord(whole["additionalProperties"], field);
  if (whole["type"] === "null") return null;
  throw new Error(`${owner}.${field} has no example: add one to field-examples.ts`);
}

/** A field whose example is undefined is left out. */
function exampleOfFields(properties: Schema, owner: string): object {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const own = `${owner}.${name}`;
    const isLeftOut = Object.hasOwn(ownExamples, own) && ownExamples[own] === undefined;
    return [name, isLeftOut ? undefined : exampleOf(schema, owner, name)] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Names that occur in such an object. */
const keys: Readonly<Record<string, string>> = { metadata: "campaign", dependencies: "mysql", projections: "jobs" };

function exampleOfRecord(values: unknown, field: string): object {
  const key = keys[field];
  if (key === undefined || !isSchema(values)) return {};
  return { [key]: (values as Schema)["type"] === "string" ? "november" : exampleOf(values) };
}

/** Whether an example that is found by a name alone can be one of this schema. */
function fits(value: unknown, schema: Schema): boolean {
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].some((one) => isSchema(one) && fits(value, one));
  if (Array.isArray(schema["enum"])) return schema["enum"].includes(value);
  if ("const" in schema) return schema["const"] === value;
  const types = [schema["type"]].flat();
  if (value === null) return types.includes("null");
  if (Array.isArray(value))
    return types.includes("array") && value.every((one) => fits(one, schema["items"] as Schema));
  if (typeof value === "object") return types.includes("object");
  if (Number.isInteger(value)) return types.includes("integer") || types.includes("number");
  return types.includes(typeof value);
}

type Example = { readonly value: unknown };

/** Those of the forms that a request may have, by their titles. */
export function requestExamples(schema: unknown): Readonly<Record<string, Example>> {
  if (!isSchema(schema)) return {};
  const { title = "request", examples, anyOf } = schema;
  if (Array.isArray(examples)) return { [String(title)]: { value: examples[0] } };
  if (Array.isArray(anyOf)) return Object.assign({}, ...anyOf.map(requestExamples));
  throw new Error(`A request has no example: ${JSON.stringify(schema).slice(0, 200)}`);
}

/** What stands in a path in the place of a name. */
const parts: Readonly<Record<string, string>> = {
  ...{ jobId: String(fieldExamples["id"]), mailingId: String(fieldExamples["mailingId"]), email: "ada@example.com" },
  ...{ recipient: "0", version: "1", token: "example", name: "welcome", domain: "example.org" },
  ...{ scheduleId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e11", deliveryId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e12" },
};

const partsOf: readonly (readonly [RegExp, string])[] = [
  [/^\/(dead-letters|notifications)\/:id/, `${fieldExamples["id"]}.1`],
  [/\/:id/, String(fieldExamples["id"])],
  [/^\/admin\/routes/, "bulk"],
  [/^\/admin\/projections/, "jobs"],
  [/^\/assets|^\/docs/, "main.js"],
];

export function examplePart(name: string, path: string): string {
  const [, own] = ["id", "name"].includes(name) ? (partsOf.find(([pattern]) => pattern.test(path)) ?? []) : [];
  const example = own ?? parts[name];
  if (example === undefined) throw new Error(`${name} in ${path} has no example`);
  return example;
}

const details: Partial<Record<ProblemCode, string>> = {
  "validation-failed": 'recipients[0] is "ada@"; expected an e-mail address such as ada@example.com.',
  "key-missing": "The API key is missing; expected the header Authorization: Bearer <key>.",
  "scope-missing": "The API key lacks the scope jobs:write.",
  "job-has-ended": "The job is cancelled.",
};

const members: Partial<Record<ProblemCode, object>> = {
  "validation-failed": {
    errors: [
      {
        pointer: "/recipients/0",
        message: 'recipients[0] is "ada@"; expected an e-mail address such as ada@example.com',
      },
    ],
  },
  "scope-missing": { scope: "jobs:write" },
  "job-has-ended": { currentStatus: "cancelled" },
  "quota-exceeded": { limit: 50_000, left: 120, resetsAt: "2026-11-22T00:00:00.000Z" },
  "not-ready": { ready: false, dependencies: { mysql: { status: "down", needed: true } } },
};

export function exampleOfProblem(code: ProblemCode): object {
  const { title, ...others } = toProblem(code, "");
  const detail = details[code] ?? `${title}.`;
  return { ...others, title, detail, requestId: fieldExamples["requestId"], ...members[code] };
}
