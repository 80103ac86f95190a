import type { TSchema } from "typebox";
import type { Needed, Scope } from "../../access/key-ring.ts";
import type { ProblemCode } from "../../schemas/problem.ts";
import type { Answer } from "./answer.ts";
import type { BoundPorts } from "./deadline.ts";
import type { Parameters } from "./query.ts";
import type { RequestContext } from "./request-context.ts";
import type { StreamedBody, Streams } from "./stream-body.ts";

/** A request whose query and body have been read: it holds nothing of the HTTP framework. */
export type ApiRequest<Query = object> = {
  readonly context: RequestContext;
  /** The base path, `/api` or `/api/v1`: links in the answer stay in the same version. */
  readonly base: string;
  /** A named part of the path, the empty string where the route has no part of this name. */
  readonly part: (name: string) => string;
  readonly query: Query;
  /** The sequence that the answer must include; 0 where the header `Min-Sequence` was not sent, or the route does not take it. */
  readonly minSequence: number;
  /** Undefined where the request had no body. */
  readonly body: unknown;
  /** Null where the route takes no stream. */
  readonly streamed: StreamedBody | null;
  /** Null where the header was not sent. */
  readonly header: (name: string) => string | null;
  /** The type of the answer, one of those that the route offers. */
  readonly accepted: string;
  /** Aborts once the answer is out or the client has gone: for work that goes on until then. */
  readonly gone: () => AbortSignal;
  /** False once the caller's key was revoked. */
  readonly isStillAdmitted: () => boolean;
  /** A call to NATS through these ports ends within the time that the request has, or throws. */
  readonly inTime: <Given extends BoundPorts>(ports: Given) => Given;
  /** Whether the caller has a scope besides the one that the route needs. */
  readonly may: (scope: Scope) => boolean;
};

export type Route<Query = object> = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly describes: Describes;
  readonly query: Parameters<Query>;
  /** For URLs that others pass on and add parameters to; without it, an unknown parameter is refused. */
  readonly ignoresQuery?: boolean;
  readonly takesBody: boolean;
  /** Undefined for the default limit. */
  readonly maxBodyBytes?: number;
  /** For a body that is read while it arrives, in place of a JSON body. */
  readonly streams?: Streams;
  /** Types of the answer; the first is for clients that accept any type. */
  readonly offers: readonly string[];
  /** The scope that the key needs. `any` accepts every valid key; `open` needs no key, and belongs to no tenant. */
  readonly scope: Needed | "open";
  readonly handle: (request: ApiRequest<Query>) => Promise<Answer>;
};

type Optional = "query" | "takesBody" | "offers" | "scope";

/** Defaults of a route: no query and no body, an answer in JSON, and the scope of reading or writing jobs. */
export const route = <Query extends object>(
  given: Omit<Route<Query>, Optional> & Partial<Pick<Route<Query>, Optional>>,
): Route => {
  const none = {} as Parameters<Query>;
  const scope = given.method === "GET" ? "jobs:read" : "jobs:write";
  const whole: Route<Query> = { query: none, takesBody: false, offers: ["application/json"], scope, ...given };
  // The type of a query is a matter between a route's parameters and its handler; elsewhere all routes have one type.
  return whole as unknown as Route;
};

/** The part of a route's OpenAPI description that does not follow from its path, query, types and scope. */
export type Describes = {
  /** Unique, and stable: generated clients name their functions after it. */
  readonly operation: string;
  readonly summary: string;
  readonly body?: { readonly schema: TSchema; readonly isOptional: boolean };
  readonly headers?: readonly RequestHeader[];
  /** By status; none of them is a problem. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** The parts of the service that the route needs; their failures become problems of the route. */
  readonly needs?: readonly Need[];
  /** Problems besides those that follow from the rest. */
  readonly problems?: readonly ProblemCode[];
};

export type DescribedAnswer = {
  readonly is: string;
  /** For `application/json`; the other types that a route offers have no schema. */
  readonly json?: TSchema;
  /** The answer has no body. */
  readonly isEmpty?: true;
  readonly headers?: readonly AnswerHeader[];
};

export const requestHeaders = {
  "Min-Sequence":
    "The `Event-Sequence` of an earlier answer, or the id of an event of a stream: the service waits until the read model has reached it.",
  "Idempotency-Key":
    "1 to 255 visible characters. The same request with the same key creates one job, for ever. Send a key with every job: after a 503, or no answer, the job may exist.",
  Prefer: "`wait=N`, at most 60: the answer comes when the job has ended, or after N seconds.",
  "Last-Event-ID": "The id of the last event that was received: the stream goes on after it.",
} as const;

export type RequestHeader = keyof typeof requestHeaders;

export const answerHeaders = {
  "Event-Sequence":
    "The place in the log of the last event that is in this answer, what was stored for it at the least; take it along as `Min-Sequence`.",
  "Read-Sequence": "The position in the log that the answering read model had reached.",
  Location: "The path of the new job.",
  "Idempotency-Replayed": "`true` if the job existed already.",
  "Preference-Applied": "The preference that the service followed.",
  Link: '`<…>; rel="next"` where there is more.',
  "Content-Disposition": "A name for the file.",
} as const;

export type AnswerHeader = keyof typeof answerHeaders;

/** Reads the log, writes the log, reads a read model, or opens a stream. */
export type Need = keyof typeof troubles;

export const troubles = {
  log: ["event-log-unavailable", "archived"],
  "log-writes": ["event-log-unavailable", "event-log-full", "archived"],
  "read-model": ["read-model-unavailable"],
  streams: ["too-many-streams", "no-stream-left"],
} as const satisfies Record<string, readonly ProblemCode[]>;

export const needed = (schema: TSchema) => ({ schema, isOptional: false });
export const optional = (schema: TSchema) => ({ schema, isOptional: true });
