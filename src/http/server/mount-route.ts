import { Readable } from "node:stream";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { Access } from "../../access/access.ts";
import { admit } from "./admit.ts";
import type { Answer } from "./answer.ts";
import type { BodyAccount, BodyBudget } from "./body-budget.ts";
import { keepUntilTaken, whileInHand } from "./body-in-hand.ts";
import { boundBy, createDeadline } from "./deadline.ts";
import { problemType, refuse, refuseFaults } from "./problem.ts";
import { readQuery } from "./query.ts";
import { readBody } from "./read-body.ts";
import type { RequestContext } from "./request-context.ts";
import type { ApiRequest, Route } from "./route.ts";
import { type StreamedBody, withStreamedBody } from "./stream-body.ts";

export type ApiState = { context: RequestContext; route: string };

/** What stands before every route: who may ask it, and how large requests may be. */
export type Entrance = { readonly access: Access; readonly bodies: BodyBudget };

/** Puts a route behind a path. What is wrong with a request is found before the route sees it, and nothing is done. */
export function mountRoute(router: Router<ApiState>, base: string, route: Route, entrance: Entrance): void {
  router.register(`${base}${route.path}`, [route.method], async (ctx) => {
    ctx.state.route = `${base}${route.path}`;
    const refusal = admit(ctx, entrance.access, route.scope);
    if (refusal !== null) return send(ctx, refusal);
    const account = entrance.bodies.open(ctx.state.context.tenant);
    send(ctx, await whileInHand(ctx, account, () => answerOf(ctx, base, route, entrance.access, account)));
    keepUntilTaken(ctx, account);
  });
}

async function answerOf(
  ctx: Context,
  base: string,
  route: Route,
  access: Access,
  account: BodyAccount,
): Promise<Answer> {
  const accepted = acceptedOf(ctx, route.offers);
  if (typeof accepted !== "string") {
    const offers = route.offers.join(", ");
    return refuse("not-acceptable", `Accept is ${JSON.stringify(ctx.get("Accept"))}; this route offers ${offers}.`);
  }
  const query = readQuery(route.query, new URLSearchParams(route.ignoresQuery ? "" : ctx.querystring));
  if (!query.valid) return refuseFaults(query.faults);
  const none = { read: true, value: undefined } as const;
  const body = route.takesBody ? await readBody(ctx, account, route.maxBodyBytes) : none;
  if (!body.read) return body.answer;
  const respond = (streamed: StreamedBody | null) =>
    respondTo(ctx, base, route, access, { accepted, query: query.value, body: body.value, streamed });
  return route.streams === undefined
    ? await respond(null)
    : await withStreamedBody(ctx, account, route.streams, respond);
}

/** What clients send that take anything, as most do: not worth a negotiation. */
const anything: ReadonlySet<string | undefined> = new Set([undefined, "*/*"]);

const acceptedOf = (ctx: Context, offers: readonly string[]) =>
  anything.has(ctx.req.headers.accept) ? offers[0] : ctx.accepts([...offers]);

type ReadRequest = Pick<ApiRequest, "accepted" | "query" | "body" | "streamed">;

function respondTo(ctx: Context, base: string, route: Route, access: Access, read: ReadRequest): Promise<Answer> {
  const parts = ctx["params"] as Readonly<Record<string, string>>;
  const context: RequestContext = ctx.state["context"];
  const deadline = createDeadline(ctx.request.length ?? 0);
  return route.handle({
    ...read,
    context,
    base,
    part: (name) => parts[name] ?? "",
    header: (name) => (ctx.req.headers[name.toLowerCase()] === undefined ? null : ctx.get(name)),
    gone: () => untilClosed(ctx),
    inTime: (ports) => boundBy(deadline, ports),
    isStillAdmitted: () => route.scope === "open" || access.isStillAdmitted(context.actor, route.scope),
    may: (scope) => access.isStillAdmitted(context.actor, scope),
  });
}

function untilClosed({ res }: Context): AbortSignal {
  const closed = new AbortController();
  if (res.closed) closed.abort();
  else res.once("close", () => closed.abort());
  return closed.signal;
}

/** Every answer of the API goes out here; a problem gets the id of its request. */
export function send(ctx: Context, answer: Answer): void {
  ctx.status = answer.status;
  ctx.set({ ...answer.headers, "Content-Type": answer.type });
  const goesOn = answer.body instanceof Readable;
  ctx.body = goesOn || Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(withRequestId(ctx, answer));
  // There may be nothing to say for long, and the client shall know that it is heard.
  if (goesOn) ctx.flushHeaders();
}

const withRequestId = (ctx: Context, { type, body }: Answer): unknown =>
  type === problemType ? { ...(body as object), requestId: ctx.state["context"].requestId } : body;
