import { AssertionError } from "node:assert";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
export type Operation = {
  readonly operationId: string;
  readonly requestBody?: { readonly content?: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** What no route answers: the request was none of any route. */
export const unrouted: readonly string[] = [
  "route-not-found",
  "method-not-allowed",
  "invalid-request",
  "request-timeout",
  "headers-too-large",
];

/** A failure prints the path: of a longer one its beginning tells enough. */
const longestPath = 300;

export type AnswerCheck = (method: string, url: string, answer: Answer) => void;

/** Fails where an answer in JSON is not what the document says; a member too many is a fault too. */
export function answerCheck(document: OpenApi): AnswerCheck {
  const described = readDescribed(document);
  return (method, url, answer) => check(described, method, url, answer);
}

function check(described: Described, method: string, url: string, { status, headers, body }: Answer): void {
  const type = headers.get("Content-Type")?.split(";")[0]?.trim() ?? "";
  const path = new URL(url).pathname.replace(/^\/api\/v1(?=\/)/, "/api").slice(0, longestPath);
  if (!/json$/.test(type) || method === "OPTIONS" || isUnrouted(body)) return;
  const operation = described.find(method === "HEAD" ? "GET" : method, path);
  if (operation === undefined) fail(`${method} ${path} answered ${status}, and no route describes it`, body);
  const media = operation.responses[status]?.content?.[type];
  if (media === undefined) fail(`${method} ${path}: ${operation.operationId} describes no ${status} ${type}`, body);
  if (media.schema === undefined || body === "") return;
  const matches = described.checkOf(media.schema);
  if (matches(body)) return;
  const faults = matches.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  fail(`${method} ${path} answered ${status} otherwise than described:\n${faults?.slice(-8).join("\n")}`, body);
}

const isUnrouted = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "code" in body && unrouted.includes(String(body.code));

function fail(message: string, body: unknown): never {
  throw new AssertionError({ message: `${message}\n${JSON.stringify(body)?.slice(0, 600)}` });
}

type Described = {
  find(method: string, path: string): Operation | undefined;
  checkOf(schema: Schema): ValidateFunction;
};

function readDescribed(document: OpenApi): Described {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // Each check is used a few times: to compile it is what takes long.
    inlineRefs: false,
    code: { optimize: false },
    formats: {
      "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    },
  });
  ajv.addSchema({ $id: "openapi", components: closed(document.components) as object });
  const patterns = Object.entries(document.paths).map(
    ([path, operations]) =>
      [new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+")}/?$`), path, operations] as const,
  );
  const checks = new Map<Schema, ValidateFunction>();
  return {
    // What is written out goes before what has a place for anything.
    find: (method, path) =>
      patterns
        .filter(([pattern]) => pattern.test(path))
        .sort(([, one], [, other]) => one.split("{").length - other.split("{").length)
        .map(([, , operations]) => operations[method.toLowerCase()])
        .find((operation) => operation !== undefined),
    checkOf: (schema) => {
      const check = checks.get(schema) ?? ajv.compile(closed(schema) as object);
      checks.set(schema, check);
      return check;
    },
  };
}

/** Clients are told to leave aside what they do not know; here everything has to be known. References lead to the components. */
function closed(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(one, isPart));
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => {
    if (name === "$ref") return [name, `openapi${value}`];
    return [name, closed(value, name === "allOf")];
  });
  const whole: Record<string, unknown> = Object.fromEntries(members);
  const isObject = whole["type"] === "object" && "properties" in whole && !("additionalProperties" in whole);
  return isObject && !isPart ? { ...whole, additionalProperties: false } : whole;
}
