import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Context } from "koa";
import { parseJson } from "../../schemas/parse-json.ts";
import { type Answer, refuse } from "./answer.ts";
import type { BodyAccount } from "./body-budget.ts";

/** `value` is undefined where the request had no body. */
export type ReadBody =
  | { readonly read: true; readonly value: unknown }
  | { readonly read: false; readonly answer: Answer };

/** For a route that sets no limit of its own. */
const usualBodyBytes = 4 * 1024 * 1024;
/** Two seconds, in steps: a machine that stood still meanwhile has used up one of them. */
const drainStepMs = 500;
const drainSteps = 4;

/** Loads what reads bodies: over a hundred modules, which only a process with routes that take bodies needs. */
export const loadReader = () => import("koa-body");

/**
 * Reads bytes, one per character, under the limit. The JSON reader of the same package is not used: it repairs what is not
 * UTF-8, and its errors carry the whole body into whatever logs them.
 */
const createReader = ({ koaBody, HttpMethodEnum }: Awaited<ReturnType<typeof loadReader>>, textLimit: number) =>
  koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ["application/json"],
    encoding: "binary",
    textLimit,
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
  });

/** One reader for each limit that a route sets: a new one would check its options on each request. */
const readers = new Map<number, ReturnType<typeof createReader>>();

async function readAsBytes(limit: number) {
  const reader = readers.get(limit) ?? createReader(await loadReader(), limit);
  readers.set(limit, reader);
  return reader;
}

/**
 * The JSON of a request, never larger than the limit, packed or unpacked. Throws NoRoomForBody: before reading anything
 * where the length is announced, otherwise while reading, while unpacking, or before parsing.
 */
export async function readBody(ctx: Context, account: BodyAccount, maxBytes = usualBodyBytes): Promise<ReadBody> {
  if (ctx.get("Content-Length") === "0" || ctx.is() === null) return { read: true, value: undefined };
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  const refusal = refuseType(ctx) ?? refuseCharset(ctx) ?? refuseEncoding(encoding);
  if (refusal !== null) return { read: false, answer: refusal };
  const received = await receive(ctx, maxBytes, account);
  const isPacked = received instanceof Uint8Array && encoding === "gzip";
  const bytes = isPacked ? await unpack(received, maxBytes, account) : received;
  if (!(bytes instanceof Uint8Array)) return { read: false, answer: bytes };
  if (bytes.length === 0) return { read: true, value: undefined };
  const json = parseJson(bytes, "body", account.takeValues);
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
  // Otherwise the rest of the body would be taken for the next request.
  refuse("body-too-large", `The body is larger than ${maxBytes} bytes.`, { headers: { Connection: "close" } });

/** The announced length of the body; null where the request announces none. */
export const toldLength = ({ req }: Context): number | null =>
  req.headers["content-length"] === undefined ? null : Number(req.headers["content-length"]);

/** The bytes as they were sent. */
async function receive(ctx: Context, maxBytes: number, account: BodyAccount): Promise<Uint8Array | Answer> {
  // The reader would unpack by itself, through a stream that has no listener any more once the limit is reached: an
  // error in the rest of it would end the process.
  delete ctx.req.headers["content-encoding"];
  const length = toldLength(ctx);
  if (length !== null && length <= maxBytes) account.takeBytes(length);
  const counted = length === null ? Readable.from(counting(ctx, account)) : null;
  try {
    const reader = await readAsBytes(maxBytes);
    await reader(counted === null ? ctx : readingFrom(counted, ctx), async () => {});
  } catch (failure) {
    counted?.destroy();
    if (!(failure instanceof Error && "status" in failure && failure.status === 413)) throw failure;
    await drain(ctx);
    return refuseSize(maxBytes);
  }
  const bytes = Buffer.from(String(ctx.request.body ?? ""), "binary");
  // Otherwise the body would stay in memory as long as the request does.
  delete ctx.request.body;
  return bytes;
}

/** Reads the body while memory is set aside for it. The connection stays open for the answer, however the reading ends. */
async function* counting({ req }: Context, account: BodyAccount): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    account.takeBytes(chunk.length);
    yield chunk;
  }
}

/** The same request for the reader, with its body from another stream. */
const readingFrom = (source: Readable, ctx: Context): Context =>
  Object.create(ctx, { req: { value: Object.assign(source, { headers: ctx.req.headers }) } });

async function unpack(bytes: Uint8Array, maxBytes: number, account: BodyAccount): Promise<Uint8Array | Answer> {
  const chunks: Buffer[] = [];
  let unpacked = 0;
  const unpacking: Readable = createGunzip().end(bytes);
  try {
    for await (const chunk of unpacking) {
      unpacked += chunk.length;
      if (unpacked > maxBytes) return refuseSize(maxBytes);
      account.takeBytes(chunk.length);
      chunks.push(chunk);
    }
  } catch (failure) {
    const isBroken = failure instanceof Error && "code" in failure && String(failure.code).startsWith("Z_");
    if (!isBroken) throw failure;
    return refuse("invalid-json", "The body is not valid gzip.");
  }
  return Buffer.concat(chunks);
}

/** A client that is still sending does not read: the rest is discarded for a moment, so that the client sees the answer. */
export async function drain(ctx: Context): Promise<void> {
  ctx.req.resume();
  const over = new AbortController();
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps === drainSteps) over.abort();
  }, drainStepMs);
  await finished(ctx.req, { signal: over.signal, writable: false }).catch(() => undefined);
  clearInterval(timer);
}
