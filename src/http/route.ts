import type { Answer } from "./answer.ts";
import type { Parameters } from "./query.ts";
import type { RequestContext } from "./request-context.ts";

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
  /** Null where it was not sent. */
  readonly header: (name: string) => string | null;
};

export type Route<Query = object> = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query: Parameters<Query>;
  readonly takesBody: boolean;
  readonly offers: string;
  readonly handle: (request: ApiRequest<Query>) => Promise<Answer>;
};

type Optional = "query" | "takesBody" | "offers";

/** What a route does not say: that it takes no query and no body, and answers in JSON. */
export const route = <Query extends object>(
  given: Omit<Route<Query>, Optional> & Partial<Pick<Route<Query>, Optional>>,
): Route => {
  const none = {} as Parameters<Query>;
  const whole: Route<Query> = { query: none, takesBody: false, offers: "application/json", ...given };
  // Which query a route takes is between its parameters and its handler; to everybody else routes are alike.
  return whole as unknown as Route;
};
