import { pause } from "../reading/pause.ts";
import { isSendable, key, keyRefused } from "../session.ts";
import { keyNotAccepted, Problem, problemOf, unreachable } from "./problem.ts";

export type Asked = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** For a POST without an Idempotency-Key: whether the same request twice changes no more than once. */
  readonly isSameTwice?: boolean;
  /** Where a repetition is refused, the first may have taken effect: what is read in place of its answer. */
  readonly changes?: string;
};

/** Relative to the page, so that it works behind whatever path a proxy puts before it. */
export const addressOf = (path: string): string => new URL(path.replace(/^\//, ""), document.baseURI).href;

/** After so many repetitions the user is told. */
const mostRepeats = 3;
/** Where the service asks for a longer pause, the user is told at once. */
const longestPauseMs = 5000;

/**
 * Returns a 2xx answer; otherwise throws Problem, or the error of an abort. A change that the service could not store in
 * time is sent again when the service says, where the same twice is the same as once; a reader loads again anyway.
 */
export async function fetchAnswer(method: string, path: string, asked: Asked = {}): Promise<Response> {
  const canRepeat = mayRepeat(method, asked);
  for (let repeats = 0; ; repeats++) {
    try {
      return await fetchOnce(method, path, asked);
    } catch (failure) {
      const isRefused = failure instanceof Problem && failure.status === 409;
      if (isRefused && repeats > 0 && asked.changes !== undefined) return await fetchOnce("GET", asked.changes, {});
      if (!canRepeat || repeats === mostRepeats || !isShort(failure)) throw failure;
      await pause(failure.retryAfterMs, asked.signal);
    }
  }
}

const mayRepeat = (method: string, { headers, isSameTwice = false }: Asked): boolean =>
  ["PUT", "PATCH", "DELETE"].includes(method) || headers?.["Idempotency-Key"] !== undefined || isSameTwice;

const isShort = (failure: unknown): failure is Problem & { readonly retryAfterMs: number } =>
  failure instanceof Problem &&
  failure.status === 503 &&
  (failure.retryAfterMs ?? Number.POSITIVE_INFINITY) <= longestPauseMs;

async function fetchOnce(method: string, path: string, { body, headers, signal }: Asked): Promise<Response> {
  const ours = key.value;
  if (!isSendable(ours)) {
    keyRefused(ours);
    throw keyNotAccepted();
  }
  const response = await fetch(addressOf(path), {
    method,
    headers: {
      ...(ours === null ? {} : { Authorization: `Bearer ${ours}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials: "omit",
    cache: "no-store",
  }).catch((failure: unknown) => {
    throw signal?.aborted ? failure : unreachable();
  });
  if (response.status === 401) keyRefused(ours);
  if (!response.ok) throw await problemOf(response);
  return response;
}

export const get = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  (await fetchAnswer("GET", path, { signal })).json();

export const send = async <Answer>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  asked: Asked = {},
): Promise<Answer> => (await fetchAnswer(method, path, asked)).json();

/** A path with the parameters that are neither null nor empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Whether another try may succeed. */
export const isPassing = (failure: unknown): failure is Problem =>
  failure instanceof Problem && (failure.status === 0 || failure.status === 429 || failure.status >= 500);
