import type { TSchema } from "typebox";
import type { Needed, Scope } from "../../access/key-ring.ts";
import type { ProblemCode } from "../../problems/problem.ts";
import type { Answer } from "./answer.ts";
import type { BoundPorts } from "./deadline.ts";
import type { Parameters } from "./query.ts";
import type { RequestContext } from "./request-context.ts";
import type { StreamedBody, Streams } from "./stream-body.ts";

/** A request whose query and body were read: nothing of HTTP's machinery is left in it. */
export type ApiRequest<Query = object> = {
  readonly context: RequestContext;
  /** The path before the route's own, `/api` or `/api/v1`: links in the answer stay in the same version. */
  readonly base: string;
  /** A named part of the path, the empty string where the route has none of this name. */
  readonly part: (name: string) => string;
  readonly query: Query;
  /** What the answer has to include at the least; 0 where the header `Min-Sequence` was not sent, or the route does not take it. */
  readonly minSequence: number;
  /** Undefined where none was sent. */
  readonly body: unknown;
  /** Null where the route takes none. */
  readonly streamed: StreamedBody | null;
  /** Null where it was not sent. */
  readonly header: (name: string) => string | null;
  /** Which of the types that the route offers the answer shall have. */
  readonly accepted: string;
  /** Aborted once the answer is out, or its client has gone: for what goes on until then. */
  readonly gone: () => AbortSignal;
  /** False once the caller's key was revoked. */
  readonly isStillAdmitted: () => boolean;
  /** What is asked of NATS through these ports is answered in the time that the request has for it, or not at all. */
  readonly inTime: <Given extends BoundPorts>(ports: Given) => Given;
  /** Whether the caller has a scope beside the one that the route needs. */
  readonly may: (scope: Scope) => boolean;
};

export type Route<Query = object> = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly describes: Describes;
  readonly query: Parameters<Query>;
  /** For addresses that others hand on, and add to: without it, an unknown parameter is refused. */
  readonly ignoresQuery?: boolean;
  readonly takesBody: boolean;
  /** Undefined for the usual limit. */
  readonly maxBodyBytes?: number;
  /** For a body that is read while it comes, in the place of one in JSON. */
  readonly streams?: Streams;
  /** Types of the answer; the first is for who does not care. */
  readonly offers: readonly string[];
  /** What a key needs for it; `any` key is let in by that, and `open` is answered to everybody, in no tenant's name. */
  readonly scope: Needed | "open";
  readonly handle: (request: ApiRequest<Query>) => Promise<Answer>;
};

type Optional = "query" | "takesBody" | "offers" | "scope";

/** What a route does not say: that it takes no query and no body, answers in JSON, and reads or writes jobs. */
export const route = <Query extends object>(
  given: Omit<Route<Query>, Optional> & Partial<Pick<Route<Query>, Optional>>,
): Route => {
  const none = {} as Parameters<Query>;
  const scope = given.method === "GET" ? "jobs:read" : "jobs:write";
  const whole: Route<Query> = { query: none, takesBody: false, offers: ["application/json"], scope, ...given };
  // Which query a route takes is between its parameters and its handler; to everybody else routes are alike.
  return whole as unknown as Route;
};

/** What a route says of itself in the OpenAPI document, beside what its path, query, types and scope say already. */
export type Describes = {
  /** Unique, and stable: generated clients name their functions after it. */
  readonly operation: string;
  readonly summary: string;
  readonly body?: { readonly schema: TSchema; readonly isOptional: boolean };
  readonly headers?: readonly RequestHeader[];
  /** By status; none of them is a problem. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** What it works with, and so which of their troubles it can have. */
  readonly needs?: readonly Need[];
  /** Beside those that follow from the rest. */
  readonly problems?: readonly ProblemCode[];
};

export type DescribedAnswer = {
  readonly is: string;
  /** Of `application/json`; the other types that a route offers have no schema. */
  readonly json?: TSchema;
  /** Nothing but the status. */
  readonly isEmpty?: true;
  readonly headers?: readonly AnswerHeader[];
};

export const requestHeaders = {
  "Min-Sequence":
    "The `Event-Sequence` of an earlier answer, or the id of an event of a stream: the read model is waited for until it has come so far.",
  "Idempotency-Key":
    "1 to 255 visible characters. The same request with the same key makes one job, for ever: send one with every job, as after a 503, or no answer, the job may exist.",
  Prefer: "`wait=N`, at most 60: the answer comes when the job has ended, or after N seconds.",
  "Last-Event-ID": "The id of the last event that was received: the stream goes on after it.",
} as const;

export type RequestHeader = keyof typeof requestHeaders;

export const answerHeaders = {
  "Event-Sequence":
    "The place in the log of the last event that is in this answer, what was stored for it at the least; take it along as `Min-Sequence`.",
  "Read-Sequence": "How far the read model had come that answered.",
  Location: "The path of the new job.",
  "Idempotency-Replayed": "`true` where the job was there already.",
  "Preference-Applied": "Which preference was followed.",
  Link: '`<…>; rel="next"` where there is more.',
  "Content-Disposition": "A name for the file.",
} as const;

export type AnswerHeader = keyof typeof answerHeaders;

/** The log to read, the log to write, a read model, a place among the streams. */
export type Need = keyof typeof troubles;

export const troubles = {
  log: ["event-log-unavailable"],
  "log-writes": ["event-log-unavailable", "event-log-full"],
  "read-model": ["read-model-unavailable"],
  streams: ["too-many-streams", "no-stream-left"],
} as const satisfies Record<string, readonly ProblemCode[]>;

export const needed = (schema: TSchema) => ({ schema, isOptional: false });
export const optional = (schema: TSchema) => ({ schema, isOptional: true });
