import { key, keyRefused } from "../session.ts";
import { addressOf } from "./client.ts";
import { problemOf, unreachable } from "./problem.ts";

export type Upload = {
  readonly type: string;
  readonly signal?: AbortSignal;
  /** The share of the file that was sent, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
};

/**
 * Puts a file of any length, which the browser reads while it sends it. `fetch` would send it the same way, and tells
 * nothing until the answer is there: hence XMLHttpRequest. Throws as `send` does.
 */
export async function upload<Answer>(path: string, file: File, how: Upload): Promise<Answer> {
  const ours = key.value;
  const response = await put(path, file, ours, how);
  if (response.status === 401) keyRefused(ours);
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

const put = (path: string, file: File, ours: string | null, { type, signal, onProgress }: Upload): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", addressOf(path));
    request.setRequestHeader("Content-Type", type);
    if (ours !== null) request.setRequestHeader("Authorization", `Bearer ${ours}`);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total === 0 ? 1 : loaded / total);
    request.onload = () => {
      const retryAfter = request.getResponseHeader("Retry-After");
      const headers = retryAfter === null ? {} : { "Retry-After": retryAfter };
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
