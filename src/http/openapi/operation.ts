import { type ProblemCode, problemCodes } from "../../schemas/problem.ts";
import { problem } from "../answers/problem.ts";
import type { Parameter } from "../server/query.ts";
import { answerHeaders, type DescribedAnswer, type Route, requestHeaders, troubles } from "../server/route.ts";
import type { Components } from "./components.ts";
import { exampleOf, exampleOfProblem, examplePart, requestExamples } from "./example.ts";

/** One route as an Operation Object. */
export function toOperation(route: Route, base: string, components: Components): object {
  const { describes, scope } = route;
  const { operation, summary, body, answers } = describes;
  const json = "application/json";
  const shown = requestExamples(body?.schema);
  return {
    operationId: operation,
    summary,
    tags: [tagOf(route, base)],
    ...(scope === "open" ? { security: [] } : { security: [{ key: scope === "any" ? [] : [scope] }] }),
    parameters: parametersOf(route, components),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.isOptional,
            content: { [json]: { schema: components.refer(body.schema), examples: shown } },
          },
        }),
    ...(route.streams === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              route.streams.types.map((type) => [
                type,
                { schema: { type: "string" }, example: route.streams?.examples[type] },
              ]),
            ),
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, toResponse(answer, route, components)]),
      ),
      ...problemResponses(problemsOf(route), components, describes.needs?.includes("log-writes") ?? false),
    },
  };
}

/** The resource that the path begins with: `jobs`, `webhook-endpoints`, … */
const tagOf = ({ path }: Route, base: string): string =>
  base === "" ? "service" : (path.split("/").find((step) => step !== "" && step !== "admin") ?? "service");

/** `/jobs/:jobId` as `/jobs/{jobId}`. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

const parametersOf = ({ path, query, describes }: Route, { refer }: Components): readonly object[] => [
  ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    example: examplePart(name ?? "", path),
  })),
  ...Object.entries(query as Readonly<Record<string, Parameter<unknown>>>).map(
    ([name, { absent, isRequired = false, expected, schema }]) => ({
      name,
      in: "query",
      required: isRequired,
      ...(isRequired ? { example: exampleOf(schema, "", name) } : {}),
      description: `Expected: ${expected}.`,
      schema: refer(isDefault(absent) && !isRequired ? { ...schema, default: absent } : schema),
      ...((schema as { readonly type?: unknown }).type === "array" ? { style: "form", explode: false } : {}),
    }),
  ),
  ...(describes.headers ?? []).map((name) => ({
    name,
    in: "header",
    description: requestHeaders[name],
    schema: name === "Min-Sequence" ? { type: "integer", minimum: 0 } : { type: "string" },
  })),
];

/** Whether the meaning of an absent parameter is a value, and not just the lack of one. */
const isDefault = (absent: unknown): boolean => ["string", "number", "boolean"].includes(typeof absent);

function toResponse({ is, json, isEmpty, headers = [] }: DescribedAnswer, { offers }: Route, { refer }: Components) {
  const whole = json === undefined ? {} : { schema: refer(json), example: exampleOf(json) };
  const content = offers.map((type) => [type, type === "application/json" ? whole : {}]);
  return {
    description: is,
    ...(isEmpty ? {} : { content: Object.fromEntries(content) }),
    ...(headers.length === 0
      ? {}
      : {
          headers: Object.fromEntries(
            headers.map((name) => [name, { description: answerHeaders[name], schema: { type: "string" } }]),
          ),
        }),
  };
}

/** Every problem that a request to this route can cause. The document describes elsewhere what matches no route. */
export function problemsOf(route: Route): readonly ProblemCode[] {
  const { method, scope, ignoresQuery, takesBody, streams, describes } = route;
  const { needs = [], problems = [] } = describes;
  const ofKeys: readonly ProblemCode[] = ["key-missing", "key-invalid", "keys-unavailable", "rate-limited"];
  const ofScopes: readonly ProblemCode[] = ["scope-missing"];
  const ofAnyBody: readonly ProblemCode[] = ["body-too-large", "unsupported-media-type", "no-room-for-body"];
  return [
    ...(ignoresQuery ? [] : (["validation-failed"] as const)),
    ...(scope === "open" ? [] : ofKeys),
    ...(scope === "open" || scope === "any" ? [] : ofScopes),
    ...(takesBody ? (["invalid-json", ...ofAnyBody] as const) : []),
    ...(streams === undefined ? [] : ofAnyBody),
    ...(method === "GET" && scope !== "open" ? (["no-room-for-body"] as const) : []),
    ...needs.flatMap((need): readonly ProblemCode[] => troubles[need]),
    ...problems,
    "not-acceptable",
    "internal-error",
  ];
}

/** Added to every 503 of a route that writes: the answer cannot say whether the log stored the event. */
const mayBeDone =
  "After `event-log-unavailable`, as after no answer at all, the request may still have taken effect: send it again. With the same `Idempotency-Key` in both requests the service creates one job; without a key it may create two.";

function problemResponses(
  codes: readonly ProblemCode[],
  { refer }: Components,
  isWriting: boolean,
): Readonly<Record<string, object>> {
  const listed = problemCodes.filter(({ code }) => codes.includes(code));
  const statuses = [...new Set(listed.map(({ status }) => status))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const these = listed.filter((one) => one.status === status);
      const schema = {
        allOf: [refer(problem)],
        properties: { code: { enum: these.map(({ code }) => code) }, status: { const: status } },
      };
      const titles = these.map(({ title, code }) => `${title} (\`${code}\`)`).join("; ");
      const description = isWriting && status === 503 ? `${titles}. ${mayBeDone}` : titles;
      const examples = Object.fromEntries(these.map(({ code }) => [code, { value: exampleOfProblem(code) }]));
      return [status, { description, content: { "application/problem+json": { schema, examples } } }];
    }),
  );
}
