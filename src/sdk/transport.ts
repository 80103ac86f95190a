import { NoAnswer, RequestRefused } from "./errors.ts";

export type WaybillOptions = {
  /** Where the service is, such as http://localhost:3000. */
  readonly url: string;
  /** An API key. Leave it out where the service asks for none. */
  readonly key?: string;
  /** How often a request is repeated at most; 5 unless given. */
  readonly maxRetries?: number;
  /** How long to wait for one answer; 30,000 ms unless given. It does not concern uploads. */
  readonly timeoutMs?: number;
  /** How long a call may take with all its repetitions; 120,000 ms unless given. It concerns neither uploads nor waits. */
  readonly deadlineMs?: number;
  /** Used in place of the global one. */
  readonly fetch?: typeof fetch;
};

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of one attempt. */
  readonly open?: () => NonNullable<RequestInit["body"]>;
  /** What broke the body off; null where nothing did. It is the caller's own failure, and no lost answer. */
  readonly broken?: () => { readonly reason: unknown } | null;
  /** Null for no limit, neither to an attempt nor to all of them. */
  readonly timeoutMs?: number | null;
  /** Whether the request takes effect once however often it arrives. */
  readonly isRepeatable: boolean;
  /** The body comes from what can be read only once, so the request is sent only once. */
  readonly opensOnce?: boolean;
  /** Goes on asking while the service is away, for as long as the signal allows. */
  readonly isPatient?: boolean;
  readonly signal?: AbortSignal | undefined;
};

export type Answered = { readonly body: unknown; readonly headers: Headers };

/** A request that is sent until it is answered. */
export type Transport = {
  /** The whole answer, which is JSON. */
  send(sent: Sent): Promise<Answered>;
  /** The whole answer as a text, of any type. */
  read(sent: Sent): Promise<string>;
  /** An answer of any type, whose body is still to be read. */
  open(sent: Sent): Promise<Response>;
};

const firstWaitMs = 250;
const longestWaitMs = 15_000;
/** A service that asks for more patience than this has reached a limit that a program should be told of. */
const longestRetryAfterMs = 60_000;

/**
 * Repeats a request after no answer, 408, 500, 502, 503 and 504 where it is safe to repeat, and after 429 always: nothing
 * was done then. Repeats none whose body can be read only once. Waits at least as long as the service asks for.
 */
export function createTransport(options: WaybillOptions): Transport {
  const { maxRetries = 5, deadlineMs = 120_000 } = options;
  const attempt = createAttempt(options);
  const repeat = async <Answer>(sent: Sent, read: (response: Response) => Promise<Answer>): Promise<Answer> => {
    const begunAt = performance.now();
    const isEndless = sent.isPatient === true || sent.timeoutMs === null;
    const leftMs = (): number => (isEndless ? Number.POSITIVE_INFINITY : deadlineMs - (performance.now() - begunAt));
    const retriesLeft = sent.isPatient === true ? Number.POSITIVE_INFINITY : maxRetries;
    for (let [retries, isLost] = [0, false]; ; retries += 1) {
      try {
        return await attempt(sent, read, leftMs());
      } catch (failure) {
        if (failure instanceof RequestRefused) failure.isAfterLostAnswer = isLost;
        isLost ||= !(failure instanceof RequestRefused && failure.status < 500);
        const waitMs = waitAfter(failure, sent, retries);
        if (waitMs === null || retries >= retriesLeft || waitMs > leftMs()) throw failure;
        await pause(waitMs, sent.signal);
      }
    }
  };
  return {
    send: (sent) => repeat(sent, readJson),
    read: (sent) => repeat(sent, (response) => response.text()),
    open: (sent) => repeat(sent, async (response) => response),
  };
}

/** Programs often read the address from an environment that lacks it. In a browser it may be relative to the page. */
function baseOf(url: unknown): string {
  if (typeof url !== "string" || !isHttp(url)) {
    throw new TypeError(
      `url is ${JSON.stringify(url)}; expected the address of the service, such as http://127.0.0.1:3000`,
    );
  }
  return url.replace(/\/+$/, "");
}

function isHttp(url: string): boolean {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  return URL.canParse(url, page) && /^https?:$/.test(new URL(url, page).protocol);
}

/**
 * No header carries another text: every request would fail as if the service were away. Blanks around it, such as the end of
 * the line of a file, are left out of a header anyway. The message does not show the key.
 */
function expectKey(key: unknown): void {
  if (typeof key === "string" && /^[\x21-\x7e]*$/.test(key.trim())) return;
  throw new TypeError("key is no API key; expected a text of visible ASCII characters, such as wb_3f9a");
}

function createAttempt({ url, key, timeoutMs: usual = 30_000, fetch: send = globalThis.fetch }: WaybillOptions) {
  const base = baseOf(url);
  if (key !== undefined) expectKey(key);
  const authorization: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return async <Answer>(
    { method, path, headers, open, broken, timeoutMs = usual, signal }: Sent,
    read: (response: Response) => Promise<Answer>,
    leftMs: number,
  ): Promise<Answer> => {
    signal?.throwIfAborted();
    const late = new AbortController();
    const afterMs = timeoutMs === null ? null : Math.min(timeoutMs, leftMs);
    const timer =
      afterMs === null ? undefined : setTimeout(() => late.abort(new Error(`No answer for ${afterMs} ms.`)), afterMs);
    const body = open?.();
    const init = {
      method,
      headers: { ...authorization, Accept: "application/json, application/problem+json", ...headers },
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      // Followed, a POST becomes a GET, whose answer would pass for that of the POST, and the key is left behind.
      redirect: "manual",
      ...(body === undefined ? {} : { body, duplex: "half" }),
    };
    try {
      const response = await send(base + path, init as RequestInit);
      if (!response.ok) throw new RequestRefused(response, toJson(await response.text()));
      return await read(response);
    } catch (failure) {
      if (failure instanceof RequestRefused) throw failure;
      signal?.throwIfAborted();
      const own = broken?.() ?? null;
      if (own !== null) throw own.reason;
      throw failure instanceof NoAnswer
        ? failure
        : new NoAnswer(`There was no whole answer from ${base}.`, { cause: failure });
    } finally {
      clearTimeout(timer);
    }
  };
}

async function readJson(response: Response): Promise<Answered> {
  const text = await response.text();
  const body = toJson(text);
  if (body === undefined && text !== "") throw new NoAnswer(`What answered at ${response.url} is not Waybill.`);
  return { body, headers: response.headers };
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null where the request is not repeated. */
function waitAfter(failure: unknown, { isRepeatable, opensOnce = false }: Sent, retries: number): number | null {
  if (opensOnce) return null;
  const isRefusal = failure instanceof RequestRefused;
  const isPassing = isRefusal
    ? [408, 500, 502, 503, 504].includes(failure.status) || failure.code === "mailing-import-conflict"
    : failure instanceof NoAnswer;
  const isUndone = isRefusal && failure.status === 429;
  if (!isUndone && !(isPassing && isRepeatable)) return null;
  const askedMs = isRefusal ? (failure.retryAfterMs ?? 0) : 0;
  if (askedMs > longestRetryAfterMs) return null;
  const backoffMs = Math.min(firstWaitMs * 2 ** retries, longestWaitMs);
  // Without jitter all clients of a service that comes back ask at the same moment.
  return askedMs + backoffMs * (0.5 + Math.random() / 2);
}

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
