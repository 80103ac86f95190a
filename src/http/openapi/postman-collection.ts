type Json = Readonly<Record<string, unknown>>;
type Example = { readonly value: unknown };
type Media = { readonly example?: unknown; readonly examples?: Readonly<Record<string, Example>> };
type Content = Readonly<Record<string, Media>>;
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
};
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Json[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
};
type Document = {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const format = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/**
 * The operations of an OpenAPI document as a collection (v2.1), which Postman, Bruno, Insomnia and Hoppscotch import: a folder
 * for each resource, each request with its example. Its variables `url` and `key` say which service, and as whom.
 */
export function postmanCollection(document: object): object {
  const { info, paths } = document as Document;
  const folders = new Map<string, object[]>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags[0] ?? "service";
      folders.set(tag, [...(folders.get(tag) ?? []), toItem(method.toUpperCase(), path, operation)]);
    }
  }
  return {
    info: { name: info.title, description: info.description, schema: format },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    variable: [
      { key: "url", value: "http://localhost:3000", type: "string" },
      { key: "key", value: "", type: "string" },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

function toItem(method: string, path: string, operation: Operation): object {
  const request = toRequest(method, path, operation);
  const answers = Object.entries(operation.responses).filter(([status]) => Number(status) < 300);
  const response = answers.flatMap(([status, { description, content = {} }]) => {
    const example = content["application/json"]?.example;
    return example === undefined ? [] : [toAnswer(Number(status), description, request, example)];
  });
  return { name: operation.operationId, request, response };
}

function toRequest(method: string, path: string, operation: Operation): object {
  const { summary, security, parameters, requestBody } = operation;
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const value = media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
  return {
    method,
    description: summary,
    ...(security.length === 0 ? { auth: { type: "noauth" } } : {}),
    header: type === undefined ? [] : [{ key: "Content-Type", value: type }],
    url: toUrl(path, parameters),
    ...(type === undefined ? {} : { body: toBody(type, value) }),
  };
}

const toBody = (type: string, value: unknown): object => ({
  mode: "raw",
  raw: typeof value === "string" ? value : JSON.stringify(value, null, 2),
  options: { raw: { language: type === "application/json" ? "json" : "text" } },
});

/** A parameter that need not be given is switched off. */
function toUrl(path: string, parameters: readonly Parameter[]): object {
  const steps = path
    .split("/")
    .slice(1)
    .map((step) => step.replace(/^\{(\w+)\}$/, ":$1"));
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const query = inQuery.map(({ name, required = false, description = "", example = "" }) => ({
    key: name,
    value: String(example),
    description,
    ...(required ? {} : { disabled: true }),
  }));
  const asked = query
    .filter((one) => !("disabled" in one))
    .map(({ key, value }) => `${key}=${encodeURIComponent(value)}`);
  const variable = parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name, example = "" }) => ({ key: name, value: String(example) }));
  return {
    raw: `{{url}}/${steps.join("/")}${asked.length === 0 ? "" : `?${asked.join("&")}`}`,
    host: ["{{url}}"],
    path: steps,
    ...(query.length === 0 ? {} : { query }),
    ...(variable.length === 0 ? {} : { variable }),
  };
}

const toAnswer = (code: number, status: string, originalRequest: object, example: unknown): object => ({
  name: `${code}`,
  originalRequest,
  code,
  status,
  header: [{ key: "Content-Type", value: "application/json" }],
  body: JSON.stringify(example, null, 2),
});
