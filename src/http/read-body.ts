import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Context } from "koa";
import { HttpMethodEnum, koaBody } from "koa-body";
import { parseJson } from "../acceptance/parse-json.ts";
import type { Answer } from "./answer.ts";
import { refuse } from "./problem.ts";

/** `value` is undefined where there was no body. */
export type ReadBody =
  | { readonly read: true; readonly value: unknown }
  | { readonly read: false; readonly answer: Answer };

/** For a route that says nothing else. */
const usualBodyBytes = 4 * 1024 * 1024;
const drainMs = 2000;

/**
 * As bytes, one a character, under the limit. The JSON reader beside it is left aside: it mends what is not UTF-8,
 * and its errors carry the whole body into whatever logs them.
 */
const createReader = (textLimit: number) =>
  koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ["application/json"],
    encoding: "binary",
    textLimit,
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
  });

/** By limit, of which there are as many as the routes name: to make one, its options are checked each time. */
const readers = new Map<number, ReturnType<typeof createReader>>();

function readAsBytes(limit: number) {
  const reader = readers.get(limit) ?? createReader(limit);
  readers.set(limit, reader);
  return reader;
}

const gunzipped = promisify(gunzip);

/** The JSON of a request, never larger than the limit, packed or unpacked. */
export async function readBody(ctx: Context, maxBytes = usualBodyBytes): Promise<ReadBody> {
  if (ctx.get("Content-Length") === "0" || ctx.is() === null) return { read: true, value: undefined };
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  const refusal = refuseType(ctx) ?? refuseCharset(ctx) ?? refuseEncoding(encoding);
  if (refusal !== null) return { read: false, answer: refusal };
  const received = await receive(ctx, maxBytes);
  const bytes = received instanceof Uint8Array && encoding === "gzip" ? await unpack(received, maxBytes) : received;
  if (!(bytes instanceof Uint8Array)) return { read: false, answer: bytes };
  if (bytes.length === 0) return { read: true, value: undefined };
  const json = parseJson(bytes);
  return json.parsed ? { read: true, value: json.value } : { read: false, answer: refuse("invalid-json", json.reason) };
}

function refuseType(ctx: Context): Answer | null {
  if (ctx.is("application/json")) return null;
  const given = ctx.get("Content-Type");
  const found = given === "" ? "missing" : JSON.stringify(given);
  return refuse("unsupported-media-type", `Content-Type is ${found}; expected application/json.`);
}

export function refuseCharset(ctx: Context): Answer | null {
  const { charset } = ctx.request;
  if (["", "utf-8", "utf8", "us-ascii"].includes(charset.toLowerCase())) return null;
  return refuse("unsupported-media-type", `The charset is ${JSON.stringify(charset)}; expected utf-8.`);
}

function refuseEncoding(encoding: string): Answer | null {
  if (["", "identity", "gzip"].includes(encoding)) return null;
  const detail = `Content-Encoding is ${JSON.stringify(encoding)}; expected gzip or none.`;
  return refuse("unsupported-media-type", detail, { headers: { "Accept-Encoding": "gzip" } });
}

export const refuseSize = (maxBytes: number): Answer =>
  // Whatever of the body is still on its way would be taken for the next request.
  refuse("body-too-large", `The body is larger than ${maxBytes} bytes.`, { headers: { Connection: "close" } });

/** The bytes as they were sent. */
async function receive(ctx: Context, maxBytes: number): Promise<Uint8Array | Answer> {
  // The reader would unpack on its own, by a stream that nobody listens to any more once the limit is reached: an
  // error in the rest of it would end the process.
  delete ctx.req.headers["content-encoding"];
  try {
    await readAsBytes(maxBytes)(ctx, async () => {});
  } catch (failure) {
    if (!(failure instanceof Error && "status" in failure && failure.status === 413)) throw failure;
    await drain(ctx);
    return refuseSize(maxBytes);
  }
  return Buffer.from(String(ctx.request.body ?? ""), "binary");
}

async function unpack(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | Answer> {
  try {
    return await gunzipped(bytes, { maxOutputLength: maxBytes });
  } catch (failure) {
    const isTooLarge = failure instanceof Error && "code" in failure && failure.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? refuseSize(maxBytes) : refuse("invalid-json", "The body is not valid gzip.");
  }
}

/** Who is still sending does not read: the rest is thrown away for a moment, so that the answer is seen. */
export async function drain(ctx: Context): Promise<void> {
  ctx.req.resume();
  await finished(ctx.req, { signal: AbortSignal.timeout(drainMs), writable: false }).catch(() => undefined);
}
