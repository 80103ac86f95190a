import { key, keyRefused } from "../session.ts";
import { Problem, problemOf, unreachable } from "./problem.ts";

export type Asked = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/** Relative to the page, so that it works behind whatever path a proxy puts before it. */
export const addressOf = (path: string): string => new URL(path.replace(/^\//, ""), document.baseURI).href;

/** Returns a 2xx answer; otherwise throws Problem, or the error of an abort. */
export async function fetchAnswer(
  method: string,
  path: string,
  { body, headers, signal }: Asked = {},
): Promise<Response> {
  const ours = key.value;
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
