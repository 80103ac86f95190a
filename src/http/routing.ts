import Router, { type RouterContext } from "@koa/router";
import type { Middleware } from "koa";
import type { Access } from "../access/access.ts";
import { type ApiState, mountRoute } from "./mount-route.ts";
import type { Route } from "./route.ts";

type Dispatch = Middleware<ApiState, RouterContext<ApiState>>;

export type Routing = {
  /** Puts a route behind a path of which the part after the base is no parameter. */
  mount(base: string, route: Route, access: Access): void;
  /** Answers what has a route; carries its routers, as that of one router carries it. */
  readonly dispatch: Dispatch & { readonly routers: readonly Router<ApiState>[] };
  /** Those that the routes of a path have; none where there is no route. */
  methodsAt(path: string): readonly string[];
};

/** Of a path of the API the part after its base, which is that of a handful of routes. */
const beginning = /^(?:\/api(?:\/v1)?)?\/[^/]*/;
const beginningOf = (path: string): string => beginning.exec(path)?.[0] ?? "";

/**
 * Routes by how their paths begin, a router for each: a router compares a path with all of its routes, and with a
 * hundred of them that took a tenth of the time of an answer.
 */
export function createRouting(): Routing {
  const shelves = new Map<string, { readonly router: Router<ApiState>; readonly dispatch: Dispatch }>();
  const routers: Router<ApiState>[] = [];
  const routerFor = (path: string): Router<ApiState> => {
    const key = beginningOf(path);
    const known = shelves.get(key)?.router;
    if (known !== undefined) return known;
    const router = new Router<ApiState>({ sensitive: true });
    shelves.set(key, { router, dispatch: router.routes() });
    routers.push(router);
    return router;
  };
  const dispatch: Dispatch = (ctx, next) => {
    const found = shelves.get(beginningOf(ctx.path));
    return found === undefined ? next() : found.dispatch(ctx, next);
  };
  return {
    mount: (base, route, access) => {
      const path = `${base}${route.path}`;
      if (beginningOf(path).includes(":")) throw new Error(`A request would not be compared with ${path}.`);
      mountRoute(routerFor(path), base, route, access);
    },
    dispatch: Object.assign(dispatch, { routers }),
    methodsAt: (path) =>
      (shelves.get(beginningOf(path))?.router.stack ?? [])
        .filter((layer) => layer.match(path))
        .flatMap(({ methods }) => methods),
  };
}
