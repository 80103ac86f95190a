import { Readable } from "node:stream";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { Access } from "../../access/access.ts";
import { type Checked, passed } from "../../schemas/fault.ts";
import { admit } from "./admit.ts";
import { type Answer, problemType, refuse, refuseFaults, refuseForNow } from "./answer.ts";
import { type BodyAccount, type BodyBudget, NoRoomForBody } from "./body-budget.ts";
import { boundBy, createDeadline } from "./deadline.ts";
import { readQuery, readSequence } from "./query.ts";
import { drain, loadReader, readBody } from "./read-body.ts";
import type { RequestContext } from "./request-context.ts";
import type { ApiRequest, Route } from "./route.ts";
import { type StreamedBody, withStreamedBody } from "./stream-body.ts";

export type ApiState = {
  context: RequestContext;
  route: string;
  /** Since when the answer waits for what the client asked it to, by the monotonic clock. */
  waitsSince?: number;
};

/** The checks before every route: the caller's key, and the size of the request. */
export type Entrance = { readonly access: Access; readonly bodies: BodyBudget };

/** Mounts a route at a path. Faults of a request are found before the route sees it, and then nothing is done. */
export function mountRoute(router: Router<ApiState>, base: string, route: Route, entrance: Entrance): void {
  if (route.takesBody) void loadReader();
  const unasked = readQuery(route.query, new URLSearchParams());
  const queryOf = ({ querystring }: Context) =>
    querystring === "" || route.ignoresQuery ? unasked : readQuery(route.query, new URLSearchParams(querystring));
  router.register(`${base}${route.path}`, [route.method], async (ctx) => {
    ctx.state.route = `${base}${route.path}`;
    const refusal = await admit(ctx, entrance.access, route.scope);
    if (refusal !== null) return send(ctx, refusal);
    const account = entrance.bodies.open(ctx.state.context.tenant);
    send(
      ctx,
      await whileInHand(ctx, account, () => answerOf(ctx, base, route, queryOf(ctx), entrance.access, account)),
    );
    const isCounted = route.scope !== "open";
    // What a command has done is done, and its client has to learn of it.
    if (!keepUntilTaken(ctx, account, isCounted) && route.method === "GET") send(ctx, refuseLargeAnswer());
  });
}

async function answerOf(
  ctx: Context,
  base: string,
  route: Route,
  query: Checked<object>,
  access: Access,
  account: BodyAccount,
): Promise<Answer> {
  const accepted = acceptedOf(ctx, route.offers);
  if (typeof accepted !== "string") {
    const offers = route.offers.join(", ");
    return refuse("not-acceptable", `Accept is ${JSON.stringify(ctx.get("Accept"))}; this route offers ${offers}.`);
  }
  if (!query.valid) return refuseFaults(query.faults);
  const minSequence = readMinSequence(ctx, route);
  if (!minSequence.valid) return refuseFaults(minSequence.faults);
  const none = { read: true, value: undefined } as const;
  const body = route.takesBody ? await readBody(ctx, account, route.maxBodyBytes) : none;
  if (!body.read) return body.answer;
  const respond = (streamed: StreamedBody | null) =>
    respondTo(ctx, base, route, access, {
      accepted,
      query: query.value,
      minSequence: minSequence.value ?? 0,
      body: body.value,
      streamed,
    });
  return route.streams === undefined
    ? await respond(null)
    : await withStreamedBody(ctx, account, route.streams, respond);
}

/** The Accept of clients that take any type, as most send it: it needs no negotiation. */
const anything: ReadonlySet<string | undefined> = new Set([undefined, "*/*"]);

const acceptedOf = (ctx: Context, offers: readonly string[]) =>
  anything.has(ctx.req.headers.accept) ? offers[0] : ctx.accepts([...offers]);

const headerOf = ({ req }: Context, name: string): string | null => {
  const header = req.headers[name.toLowerCase()];
  return header === undefined ? null : String(header);
};

const readMinSequence = (ctx: Context, { describes }: Route): Checked<number | null> =>
  describes.headers?.includes("Min-Sequence")
    ? readSequence("Min-Sequence", headerOf(ctx, "Min-Sequence"), "the Event-Sequence of an earlier answer")
    : passed(null);

type ReadRequest = Pick<ApiRequest, "accepted" | "query" | "minSequence" | "body" | "streamed">;

function respondTo(ctx: Context, base: string, route: Route, access: Access, read: ReadRequest): Promise<Answer> {
  const parts = ctx["params"] as Readonly<Record<string, string>>;
  const context: RequestContext = ctx.state["context"];
  const deadline = createDeadline(ctx.request.length ?? 0);
  // Each is named: a spread would cost every request more than everything else here.
  return route.handle({
    accepted: read.accepted,
    query: read.query,
    minSequence: read.minSequence,
    body: read.body,
    streamed: read.streamed,
    context,
    base,
    part: (name) => parts[name] ?? "",
    header: (name) => headerOf(ctx, name),
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
  ctx.set(answer.headers);
  ctx.set("Content-Type", answer.type);
  const goesOn = answer.body instanceof Readable;
  ctx.body = goesOn || Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(withRequestId(ctx, answer));
  // A stream may have nothing to send for long, and the client must know that its request arrived.
  if (goesOn) ctx.flushHeaders();
}

const withRequestId = (ctx: Context, { type, body }: Answer): unknown =>
  type === problemType ? { ...(body as object), requestId: ctx.state["context"].requestId } : body;

/** The budget does not count an answer smaller than this. */
const smallAnswerBytes = 64 * 1024;
/** The time that a client has to take a larger answer: this, and as long as a slow line needs. */
const takeMs = 60_000;
const bytesInMs = 16;

/** The answer to a request, refused where there is no room for its body. The body is given back before a long wait. */
async function whileInHand(ctx: Context, account: BodyAccount, ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await ask().catch(async (failure: unknown) => {
    account.close();
    if (!(failure instanceof NoRoomForBody)) throw failure;
    return await refuseForMemory(ctx, failure);
  });
  if (answer.later === undefined) return answer;
  account.close();
  ctx.state["waitsSince"] = performance.now();
  return await answer.later();
}

async function refuseForMemory(ctx: Context, { isForGood }: NoRoomForBody): Promise<Answer> {
  // A body whose reading never began is discarded by Node while the answer is on its way.
  if (ctx.req.readableDidRead) await drain(ctx);
  return isForGood
    ? refuse("body-too-large", "The body takes more memory than one request may use.")
    : refuseForNow(
        "no-room-for-body",
        "Other requests take all the memory for bodies. Nothing was done. Try again.",
        2,
      );
}

const refuseLargeAnswer = (): Answer =>
  refuseForNow("no-room-for-body", "Answers that clients are still taking fill all the memory for them. Try again.", 2);

/**
 * Gives the memory of the body back once the answer is ready. A large answer, such as that of a dry run with attachments,
 * takes the place of its body in the budget until the client has it. False if there is no room for it. What needs no key
 * is no tenant's, and mostly a file that the process holds once for all: it is not counted.
 */
function keepUntilTaken({ length = 0, req, res }: Context, account: BodyAccount, isCounted: boolean): boolean {
  if (length < smallAnswerBytes || res.closed) {
    account.close();
    return true;
  }
  const hasRoom = !isCounted || account.keepAnswer(length);
  const giveUp = setTimeout(() => req.destroy(), takeMs + length / bytesInMs).unref();
  res.once("close", () => {
    clearTimeout(giveUp);
    account.close();
  });
  return hasRoom;
}
