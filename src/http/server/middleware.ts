import type { Middleware, ParameterizedContext } from "koa";
import type { Logger } from "pino";
import { traceIdOf } from "../../event-log/traceparent.ts";
import { toLoggable } from "../../process/logger.ts";
import { type Answer, answerFailure, isOutage, refuse } from "./answer.ts";
import { type ApiState, send } from "./mount-route.ts";
import { toRequestContext } from "./request-context.ts";
import type { Routing } from "./routing.ts";

/** Answers hold people's addresses, change all the time, and are not pages. */
const everyAnswer = new Map([
  ["Cache-Control", "no-store"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["X-Content-Type-Options", "nosniff"],
]);

export type ServedRequest = {
  /** One of those that routes have, or `other`. */
  readonly method: string;
  /** The pattern that the request matched, the empty string where it matched none. */
  readonly route: string;
  readonly status: number;
  /** Without the time that the client asked the service to wait. */
  readonly ms: number;
};

/** Reports a request once its answer is decided. An answer that streams goes on after that. */
export type Served = (request: ServedRequest) => void;

/**
 * Begins a request and ends it, in one middleware as each costs every answer a promise: turns whatever a route throws into
 * an answer, and logs one line.
 */
export function answerEverything(logger: Logger, served: Served = () => {}): Middleware<ApiState> {
  // Each field is named below, and none is a secret: the search for secrets takes 5 of the 8 µs of a line.
  const lines = logger.child({}, { redact: [] });
  return async (ctx, next) => {
    const began = performance.now();
    ctx.state.context = toRequestContext(ctx.req.headers);
    ctx.state.route = "";
    // Past Koa, whose checks take as long as the headers.
    ctx.res.setHeaders(everyAnswer);
    ctx.res.setHeader("X-Request-Id", ctx.state.context.requestId);
    try {
      await next();
    } catch (failure) {
      logFailure(logger, ctx, failure);
      send(ctx, isCutOff(ctx) ? cutOff() : answerFailure(failure));
    }
    const { route, context, waitsSince } = ctx.state;
    const { method, status } = ctx;
    const ended = performance.now();
    const ms = ended - began;
    const own = (waitsSince ?? ended) - began;
    served({ method: methods.has(method) ? method : "other", route, status, ms: own });
    const { requestId, tenant, actor } = context;
    const traceId = traceIdOf(context.traceparent);
    const path = pathToLog(ctx.path, route);
    const made = status === 201 ? ctx.response.get("Location") : "";
    const about = made === "" ? { method, route, path } : { method, route, path, made };
    const line = { requestId, traceId, tenant, actor, ...about, status, ms: Math.round(ms) };
    if (route.startsWith("/api") || status === 404) lines.info(line, "request");
    else lines.trace(line, "request");
  };
}

/** The client went away in the middle of its request, or was given up: what failed is not the service. */
const isCutOff = ({ writable, req }: ParameterizedContext<ApiState>): boolean => !writable && !req.complete;

/** Nobody reads it, but it is logged, and counted. */
const cutOff = (): Answer => refuse("invalid-request", "The request ended too early.");

const longestPath = 200;

/** The path with its ids. Addresses and the tokens of people are left out, as log lines never contain them. */
function pathToLog(path: string, route: string): string {
  if (route.includes(":email") || route.includes(":token")) return route;
  const shown = path.length > longestPath ? `${path.slice(0, longestPath)}…` : path;
  return /@|%40/.test(shown) ? shown.replace(/[^/]*(?:@|%40)[^/]*/g, ":address") : shown;
}

function logFailure(logger: Logger, ctx: ParameterizedContext<ApiState>, failure: unknown): void {
  const { requestId, traceparent } = ctx.state.context;
  const traceId = traceIdOf(traceparent);
  const line = { requestId, traceId, route: ctx.state.route, failure: toLoggable(failure) };
  if (!ctx.writable) logger.debug(line, "client went away");
  else if (isOutage(failure)) logger.warn(line, "request failed during an outage");
  else logger.error(line, "a request failed");
}

/**
 * Errors that reach the framework happened while an answer was on its way, mostly because the client hung up. A service
 * that stops breaks off an answer that it cannot finish.
 */
export const logLostAnswer =
  (logger: Logger) =>
  (failure: NodeJS.ErrnoException): void => {
    const isHangUp = ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes(failure.code ?? "");
    logger[isHangUp || failure.name === "AbortError" ? "debug" : "error"](
      { failure: toLoggable(failure) },
      "answer not delivered",
    );
  };

/** A path that no route has is 404; a method that no route of the path has is 405, and OPTIONS lists the others. */
export const answerUnrouted =
  (routing: Pick<Routing, "methodsAt">): Middleware<ApiState> =>
  async (ctx) => {
    const methods = routing.methodsAt(ctx.path);
    const allow = [...new Set([...methods, "OPTIONS"])].join(", ");
    if (methods.length === 0) {
      send(ctx, refuse("route-not-found", "No route has this path."));
    } else if (ctx.method === "OPTIONS") {
      ctx.status = 204;
      ctx.set("Allow", allow);
    } else {
      const detail = `The method is ${ctx.method}; expected one of ${allow}.`;
      send(ctx, refuse("method-not-allowed", detail, { headers: { Allow: allow } }));
    }
  };

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
