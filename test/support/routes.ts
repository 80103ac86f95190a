import type Koa from "koa";
import type { ApiDependencies } from "../../src/http/api.ts";
import type { Routing } from "../../src/http/server/routing.ts";
import { allParts, createTestApi } from "./running-api.ts";

export type KnownRoute = { readonly method: string; readonly path: string };

/** Every route that the application has, from the routers themselves: one that was added is among them. */
export const allRoutes = (
  parts: Partial<ApiDependencies> = { mailbox: allParts.mailbox ?? null },
): readonly KnownRoute[] => routesOf(createTestApi(parts).app);

function routesOf(app: Koa): readonly KnownRoute[] {
  // The middleware that dispatches carries its routers (see Routing), which Koa's list does not tell.
  const found = app.middleware.flatMap((middleware) =>
    "branches" in middleware ? [...(middleware as Routing["dispatch"]).branches.values()] : [],
  );
  const layers = found.flatMap(({ router }) => router.stack);
  if (layers.length === 0) throw new Error("The application has no router.");
  return layers.flatMap(({ methods, path }) =>
    methods.filter((method) => method !== "HEAD").map((method) => ({ method, path: String(path) })),
  );
}
