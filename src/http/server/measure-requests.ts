import type { Middleware } from "koa";
import type { ApiState } from "./mount-route.ts";

export type ServedRequest = {
  /** One of those that routes have, or `other`. */
  readonly method: string;
  /** The pattern that the request matched, the empty string where it matched none. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Tells of every request once its answer is decided. An answer that streams goes on after that. */
export const measureRequests =
  (served: (request: ServedRequest) => void): Middleware<ApiState> =>
  async (ctx, next) => {
    const began = performance.now();
    await next();
    const method = methods.has(ctx.method) ? ctx.method : "other";
    served({ method, route: ctx.state.route, status: ctx.status, ms: performance.now() - began });
  };
