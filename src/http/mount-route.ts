import type Router from "@koa/router";
import type { Context } from "koa";
import type { Answer } from "./answer.ts";
import { problemType, refuse, refuseFaults } from "./problem.ts";
import { readQuery } from "./query.ts";
import { readBody } from "./read-body.ts";
import type { RequestContext } from "./request-context.ts";
import type { Route } from "./route.ts";

export type ApiState = { context: RequestContext; route: string };

/** Puts a route behind a path. What is wrong with a request is found before the route sees it, and nothing is done. */
export function mountRoute(router: Router<ApiState>, base: string, route: Route): void {
  router.register(`${base}${route.path}`, [route.method], async (ctx) => {
    ctx.state.route = `${base}${route.path}`;
    send(ctx, await answerOf(ctx, base, route));
  });
}

async function answerOf(ctx: Context, base: string, route: Route): Promise<Answer> {
  if (ctx.accepts(route.offers) === false) {
    return refuse(
      "not-acceptable",
      `Accept is ${JSON.stringify(ctx.get("Accept"))}; this route offers ${route.offers}.`,
    );
  }
  const query = readQuery(route.query, new URLSearchParams(ctx.querystring));
  if (!query.valid) return refuseFaults(query.faults);
  const body = route.takesBody ? await readBody(ctx) : ({ read: true, value: undefined } as const);
  if (!body.read) return body.answer;
  const parts = ctx["params"] as Readonly<Record<string, string>>;
  return await route.handle({
    context: ctx.state["context"],
    base,
    part: (name) => parts[name] ?? "",
    query: query.value,
    body: body.value,
    header: (name) => (ctx.req.headers[name.toLowerCase()] === undefined ? null : ctx.get(name)),
  });
}

/** Every answer of the API goes out here; a problem gets the id of its request. */
export function send(ctx: Context, answer: Answer): void {
  ctx.status = answer.status;
  ctx.set({ ...answer.headers, "Content-Type": answer.type });
  ctx.body = Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(withRequestId(ctx, answer));
}

const withRequestId = (ctx: Context, { type, body }: Answer): unknown =>
  type === problemType ? { ...(body as object), requestId: ctx.state["context"].requestId } : body;
