import { RequestRefused, WaitedTooLong } from "./errors.ts";
import { pause, type Sent, type Transport } from "./transport.ts";
import type { AnswerTo, BodyOf, CallOptions, MethodOf, Path, QueryOf, WaitOptions } from "./types.ts";

type Params = Readonly<Record<string, string>>;

/** What a request is made of; which of it a route takes follows from the OpenAPI document. */
export type Request<P extends Path, M> = CallOptions & {
  /** The values of `{…}` in the path. */
  readonly params?: Params;
  readonly query?: QueryOf<P, M>;
  readonly body?: BodyOf<P, M>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes a POST safe to repeat, where the route takes a key. */
  readonly idempotencyKey?: string;
  /** Whether the request may be repeated after a lost answer. All but POST and PATCH may, unless it is given. */
  readonly isRepeatable?: boolean;
  /** How long to wait for one answer. */
  readonly timeoutMs?: number;
  /** Goes on asking while the service is away, until the signal aborts. */
  readonly isPatient?: boolean;
};

export type Requests = ReturnType<typeof createRequests>;

type Page = {
  readonly nextCursor?: string | number | null;
  readonly pagination?: { readonly nextCursor: string | null };
};

/** Of the pages of a list: the items, one page asked for at a time. */
export type ListOptions = CallOptions & { readonly params?: Params };

export function createRequests(transport: Transport) {
  const request = async <P extends Path, M extends MethodOf<P>>(
    method: M,
    path: P,
    asked: Request<P, M> = {},
  ): Promise<AnswerTo<P, M>> => (await transport.send(toSent(method, path, asked))).body as AnswerTo<P, M>;

  const open = <P extends Path, M extends MethodOf<P>>(
    method: M,
    path: P,
    asked: Request<P, M> = {},
  ): Promise<Response> => {
    // Whatever the route offers; a problem always comes as JSON.
    const headers = { Accept: "*/*", ...asked.headers };
    return transport.open(toSent(method, path, { ...asked, headers }));
  };

  const readText = <P extends Path, M extends MethodOf<P>>(method: M, path: P, asked: Request<P, M>): Promise<string> =>
    transport.read(toSent(method, path, { ...asked, headers: { Accept: "*/*", ...asked.headers } }));

  async function* pages<P extends Path, Item>(
    path: P,
    query: object,
    { signal, params = {} }: ListOptions = {},
  ): AsyncGenerator<Item> {
    for (let cursor: string | number | null = null; ; ) {
      // A list may begin with a page that has a number; the service refuses one beside a cursor.
      const asked = toQuery(cursor === null ? query : { ...query, page: undefined, cursor });
      const url = fill(path, params) + asked;
      const answer = await transport.send({ method: "GET", path: url, isRepeatable: true, signal });
      const page = answer.body as Page & { readonly data: readonly Item[] };
      yield* page.data;
      cursor = page.nextCursor ?? page.pagination?.nextCursor ?? null;
      if (cursor === null) return;
    }
  }

  /** The items of lists that name the next page in a header. */
  async function* linkedPages<P extends Path, Item>(
    path: P,
    query: object,
    { signal, params = {} }: ListOptions = {},
  ): AsyncGenerator<Item> {
    for (let asked: string | null = toQuery(query); asked !== null; ) {
      const url: string = fill(path, params) + asked;
      const { body, headers } = await transport.send({ method: "GET", path: url, isRepeatable: true, signal });
      yield* body as readonly Item[];
      const next = /<([^>]*)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1];
      asked = next === undefined ? null : new URL(next, "http://localhost").search;
    }
  }
  return { request, open, readText, pages, linkedPages, transport };
}

function toSent<P extends Path, M>(method: string, path: P, asked: Request<P, M>): Sent {
  const { idempotencyKey, signal, timeoutMs, isPatient = false } = asked;
  const isSafe = !["post", "patch"].includes(method) || idempotencyKey !== undefined;
  const body = asked.body === undefined ? null : JSON.stringify(asked.body);
  return {
    method: method.toUpperCase(),
    path: fill(path, asked.params ?? {}) + toQuery(asked.query ?? {}),
    headers: {
      ...(body === null ? {} : { "Content-Type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      ...asked.headers,
    },
    ...(body === null ? {} : { open: () => body }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    isRepeatable: asked.isRepeatable ?? isSafe,
    isPatient,
    signal,
  };
}

/**
 * The thing as a decision left it whose answer was lost, where its repetition is refused because of just that. `read` answers
 * null where the thing shows that the refusal has another reason.
 */
export async function settled<Thing>(
  deciding: Promise<Thing>,
  isItself: (problem: { readonly code: string; readonly currentStatus?: string | undefined }) => boolean,
  read: () => Promise<Thing | null>,
): Promise<Thing> {
  try {
    return await deciding;
  } catch (failure) {
    const isOwn = failure instanceof RequestRefused && failure.isAfterLostAnswer && failure.problem !== null;
    const thing = isOwn && isItself(failure.problem) ? await read() : null;
    if (thing === null) throw failure;
    return thing;
  }
}

/** Asks again, less and less often, until the thing has ended; through outages of the service. */
export async function untilEnded<Thing extends { readonly completedAt: string | null }>(
  read: (options: CallOptions & { readonly isPatient: boolean }) => Promise<Thing>,
  { signal, timeoutMs }: WaitOptions,
): Promise<Thing> {
  const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, deadline].filter((one) => one !== undefined));
  try {
    // An address at which nothing ever answered is a mistake, and no outage.
    let thing = await read({ signal: either, isPatient: false });
    for (let waitMs = 250; thing.completedAt === null; waitMs = Math.min(waitMs * 1.5, 5000)) {
      await pause(waitMs, either);
      thing = await read({ signal: either, isPatient: true });
    }
    return thing;
  } catch (failure) {
    if (deadline?.aborted !== true || signal?.aborted === true) throw failure;
    throw new WaitedTooLong(`It has not ended within ${timeoutMs} ms.`, { cause: failure });
  }
}

function fill(path: string, params: Params): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // A dot segment would be resolved to another path, even when it is escaped.
    if (value === undefined || value === "" || value === "." || value === "..") {
      throw new TypeError(`params.${name} is ${JSON.stringify(value)}; ${path} needs it`);
    }
    return encodeURIComponent(value);
  });
}

function toQuery(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
