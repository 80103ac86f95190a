import type { Needed, Scope } from "../../access/key-ring.ts";
import type { Answer } from "./answer.ts";
import type { BoundPorts } from "./deadline.ts";
import type { Describes } from "./describes.ts";
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
