import { setTimeout as pause } from "node:timers/promises";

/** The body of an answer, about which nothing is known except that it is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: another process answers; what is read of it is named where it is read.
export type Json = any;

export type Answered = { readonly status: number; readonly headers: Headers; readonly body: Json };

export type Asked = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** A body of any length instead, read as fast as the service takes it; each attempt opens it anew. */
  readonly upload?: { readonly type: string; readonly open: () => AsyncIterable<Uint8Array> };
  readonly headers?: Readonly<Record<string, string>>;
  /** Throws where the request is not to be repeated: what it did may have been taken back since. */
  readonly beforeAgain?: (() => Promise<void>) | undefined;
};

/** A running service, used through its public API. */
export type Service = {
  /** Returns a 2xx answer; throws ServiceRefused for any other answer and ServiceAway if there is none. */
  ask(path: string, asked?: Asked): Promise<Answered>;
  /**
   * Repeats the request while the service is unavailable or asks the client to retry later, for up to five minutes; the
   * time of an upload does not count. Only for requests that are safe to repeat.
   */
  askPatiently(path: string, asked: Asked, onWaiting: (reason: string) => void): Promise<Answered>;
  /**
   * The lines of a stream, until the service ends it; throws where the signal aborts. Waits while the service has no room for
   * another stream.
   */
  lines(path: string, accept: string): AsyncIterable<string>;
};

/** The service refused the request. The message contains every fault in the answer. */
export class ServiceRefused extends Error {
  override readonly name = "ServiceRefused";
  readonly status: number;
  readonly code: string | null;
  /** Seconds until the client may retry; null if the service did not send `Retry-After`. */
  readonly retryAfter: number | null;

  constructor({ status, headers, body }: Answered) {
    const { title, detail, code, errors } = (body ?? {}) as Json;
    const faults = ((errors ?? []) as Json[]).map(({ message }) => `  ${message}`);
    const first = detail ?? title ?? `The service answered ${status}.`;
    super(faults.length > 1 ? [first, ...faults].join("\n") : first);
    this.status = status;
    this.code = code ?? null;
    const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : null;
  }
}

/** The service did not answer, or the answer was cut off. */
export class ServiceAway extends Error {
  override readonly name = "ServiceAway";
}

export type ServiceAddress = { readonly url: string; readonly key: string | null };

/** How long a command retries while the service is unavailable. */
const patienceMs = 5 * 60_000;
const firstWaitMs = 1000;
const longestWaitMs = 15_000;

export function createService({ url, key }: ServiceAddress, interrupted: AbortSignal): Service {
  const authorization: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` };

  const request = async (path: string, asked: Asked, accept: string): Promise<Response> => {
    const { method, headers, upload } = asked;
    const broken: { failure?: unknown } = {};
    const sent = bodyOf(asked, broken);
    const type = upload?.type ?? (sent === null ? null : "application/json");
    const contentType: Record<string, string> = type === null ? {} : { "Content-Type": type };
    const all = { ...authorization, Accept: accept, ...contentType, ...headers };
    // Followed, a POST becomes a GET, whose answer would pass for that of the POST, and the key is left behind.
    const how = { method, headers: all, signal: interrupted, redirect: "manual", ...sent } as const;
    const answer = await fetch(url + path, how).catch((failure: unknown) => {
      if (interrupted.aborted) throw failure;
      if ("failure" in broken) throw broken.failure;
      const away = `Nothing answers at ${url}. Is the service running (waybill start)? WAYBILL_URL says where it is.`;
      throw new ServiceAway(away, { cause: failure });
    });
    if (!isRedirect(answer)) return answer;
    await answer.body?.cancel();
    throw refusedAsRedirect(answer, url);
  };

  const ask = async (path: string, asked: Asked = { method: "GET" }): Promise<Answered> => {
    const response = await request(path, asked, "application/json, application/problem+json");
    const answered = { status: response.status, headers: response.headers, body: await readJson(response, url) };
    if (response.ok) return answered;
    throw new ServiceRefused(answered);
  };

  /** A service at its limit of readers answers 429 with the time after which to retry. */
  const openLines = async (path: string, accept: string): Promise<Response> => {
    for (const giveUpAt = performance.now() + patienceMs; ; ) {
      const response = await request(path, { method: "GET" }, `${accept}, application/problem+json`);
      if (response.ok) return response;
      const { status, headers } = response;
      const refused = new ServiceRefused({ status, headers, body: await readJson(response, url) });
      if (status !== 429 || performance.now() > giveUpAt) throw refused;
      await pause((refused.retryAfter ?? 1) * 1000, undefined, { signal: interrupted });
    }
  };

  return {
    ask,
    askPatiently: async (path, asked, onWaiting) => {
      let giveUpAt = performance.now() + patienceMs;
      for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
        const beganAt = performance.now();
        try {
          return await ask(path, asked);
        } catch (failure) {
          if (asked.upload !== undefined) giveUpAt += performance.now() - beganAt;
          if (!isWorthWaiting(failure)) throw failure;
          const retryAfterMs = failure instanceof ServiceRefused ? (failure.retryAfter ?? 0) * 1000 : 0;
          const pauseMs = Math.max(waitMs, retryAfterMs);
          // A quota that is used up comes back at midnight: no mailing is to start then because a command still waits.
          if (performance.now() + pauseMs > giveUpAt) throw failure;
          onWaiting(failure.message);
          await pause(pauseMs, undefined, { signal: interrupted });
          await asked.beforeAgain?.();
        }
      }
    },
    lines: async function* (path, accept) {
      const response = await openLines(path, accept);
      // A response without a body has no lines, for instance for a job that has ended.
      if (response.body !== null) yield* linesOf(response.body, url, interrupted);
    },
  };
}

const isRedirect = ({ status }: Response): boolean => status >= 300 && status < 400;

function refusedAsRedirect({ status, headers }: Response, url: string): ServiceRefused {
  const place = headers.get("Location") ?? "another address";
  const detail = `${url} leads on to ${place}: name the address of the service itself (--url, WAYBILL_URL).`;
  return new ServiceRefused({ status, headers, body: { detail } });
}

/** Whether the same request may succeed later. */
export const isWorthWaiting = (failure: unknown): failure is ServiceAway | ServiceRefused =>
  failure instanceof ServiceAway ||
  (failure instanceof ServiceRefused &&
    (failure.status === 429 || failure.status >= 502 || failure.code === "mailing-import-conflict"));

/** How long a client waits before it opens a stream anew that has ended, or that failed in this way: never less than 1 s. */
export const pauseMsAfter = (failure: unknown): number =>
  Math.max(1, failure instanceof ServiceRefused ? (failure.retryAfter ?? 1) : 1) * 1000;

type SentBody = Pick<RequestInit, "body" | "duplex">;

/** A failure of the upload itself goes to `broken`, because fetch wraps it in one of its own. */
function bodyOf({ body, upload }: Asked, broken: { failure?: unknown }): SentBody | null {
  if (upload === undefined) return body === undefined ? null : { body: JSON.stringify(body) };
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* upload.open();
    } catch (failure) {
      broken.failure = failure;
      throw failure;
    }
  };
  return { body: ReadableStream.from(chunks()), duplex: "half" };
}

async function readJson(response: Response, url: string): Promise<Json> {
  const text = await response.text().catch((failure: unknown) => {
    throw new ServiceAway(`The answer of ${url} was cut off.`, { cause: failure });
  });
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceAway(`The server at ${url} is not Waybill: its answer is not JSON.`);
  }
}

async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  url: string,
  interrupted: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (failure) {
    if (interrupted.aborted) throw failure;
    throw new ServiceAway(`The answer of ${url} was cut off.`, { cause: failure });
  }
}
