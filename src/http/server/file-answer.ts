import type { Answer } from "./answer.ts";
import type { ApiRequest } from "./route.ts";

/** Bytes that stay the same for the life of the process. */
export type StaticFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** SHA-256 in hex. */
  readonly digest: string;
};

/** Clients revalidate on each use, and get the bytes only where they have changed. */
export const revalidated = "no-cache";
/** The name of the file is its digest. */
export const forEver = "public, max-age=31536000, immutable";

export type Found = { readonly file: StaticFile; readonly policy: string | null; readonly keep: string };

export function answerFile({ header }: Pick<ApiRequest, "header">, { file, policy, keep }: Found): Answer {
  // Weak: the same for both encodings.
  const tag = `"${file.digest.slice(0, 32)}"`;
  const headers = {
    ETag: `W/${tag}`,
    "Cache-Control": keep,
    Vary: "Accept-Encoding",
    "Cross-Origin-Opener-Policy": "same-origin",
    ...(policy === null ? {} : { "Content-Security-Policy": policy }),
  };
  const isKnown = (header("If-None-Match") ?? "").split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
  if (isKnown) return { status: 304, type: file.type, headers, body: Buffer.alloc(0) };
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(header("Accept-Encoding") ?? "");
  return takesGzip
    ? { status: 200, type: file.type, headers: { ...headers, "Content-Encoding": "gzip" }, body: file.gzipped }
    : { status: 200, type: file.type, headers, body: file.bytes };
}
