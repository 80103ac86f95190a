import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Context } from "koa";
import { type Answer, refuse, refuseFaults } from "./answer.ts";
import type { BodyAccount } from "./body-budget.ts";
import { liftTimeLimit } from "./listen.ts";
import { drain, refuseCharset, refuseSize, toldLength } from "./read-body.ts";

/** A body that is read while it arrives. */
export type StreamedBody<Type extends string = string> = {
  /** One of the types that the route takes, without its parameters. */
  readonly type: Type;
  /** Can be read once, from the beginning. The rest of a body that is not read to its end is discarded. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Sets memory aside for the values of the JSON in it, before parsing; throws NoRoomForBody. */
  readonly takeValues: BodyAccount["takeValues"];
};

/**
 * For a route that takes a stream: the types that it accepts, and the limit in bytes; or, where the route keeps nothing of
 * what it has read, the memory that reading takes, however long the body is. Such a body may be packed.
 */
export type Streams = {
  readonly types: readonly string[];
  /** What such a body looks like, by its type. */
  readonly examples: Readonly<Record<string, string>>;
} & ({ readonly maxBytes: number } | { readonly memoryBytes: number });

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
    this.maxBytes = maxBytes;
  }
}

class NotPacked extends Error {
  override readonly name = "NotPacked";
}

/** How long a body of any length may pause. */
const silenceMs = 30_000;

/**
 * Passes the body to the route as it arrives, and answers with the result; a body over the limit is refused on the way.
 * Throws NoRoomForBody as readBody does: the result of a stream stays in memory, too.
 */
export async function withStreamedBody(
  ctx: Context,
  account: BodyAccount,
  streams: Streams,
  handle: (body: StreamedBody) => Promise<Answer>,
): Promise<Answer> {
  const { types } = streams;
  const type = ctx.is([...types]);
  if (typeof type !== "string") {
    const given = ctx.get("Content-Type");
    const found = given === "" ? "missing" : JSON.stringify(given);
    return refuse("unsupported-media-type", `Content-Type is ${found}; expected ${types.join(" or ")}.`);
  }
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  const mayBePacked = "memoryBytes" in streams;
  if (!["", "identity", ...(mayBePacked ? ["gzip"] : [])].includes(encoding)) {
    const expected = mayBePacked ? "gzip or none" : "none, as the service reads this body while it arrives";
    const detail = `Content-Encoding is ${JSON.stringify(encoding)}; expected ${expected}.`;
    return refuse("unsupported-media-type", detail, {
      headers: { "Accept-Encoding": mayBePacked ? "gzip" : "identity" },
    });
  }
  const refusal = refuseCharset(ctx);
  if (refusal !== null) return refusal;
  try {
    const chunks =
      "maxBytes" in streams
        ? limitedChunks(ctx, account, streams.maxBytes)
        : endlessChunks(ctx, account, streams.memoryBytes);
    const { takeValues } = account;
    const answer = await handle({ type, chunks: encoding === "gzip" ? unpacked(chunks) : chunks, takeValues });
    if (ctx.req.readableEnded) return answer;
    await drain(ctx);
    return { ...answer, headers: { ...answer.headers, Connection: "close" } };
  } catch (failure) {
    if (failure instanceof NotPacked) {
      await drain(ctx);
      return refuseFaults([{ pointer: "", message: failure.message }]);
    }
    if (!(failure instanceof BodyTooLarge)) throw failure;
    await drain(ctx);
    return refuseSize(failure.maxBytes);
  }
}

/** Sets memory aside for the whole body, as the result of the stream stays in memory. Throws BodyTooLarge. */
function limitedChunks(ctx: Context, account: BodyAccount, maxBytes: number): AsyncGenerator<Uint8Array> {
  const length = toldLength(ctx);
  if (length !== null && length > maxBytes) throw new BodyTooLarge(maxBytes);
  if (length !== null) account.takeBytes(length);
  const take = length === null ? account.takeBytes : (): void => {};
  return chunksOf(ctx, maxBytes, take);
}

/** Without a limit of length or time, for as long as the body goes on arriving. */
function endlessChunks(ctx: Context, account: BodyAccount, memoryBytes: number): AsyncGenerator<Uint8Array> {
  account.takeBytes(memoryBytes);
  liftTimeLimit(ctx.req);
  return untilSilent(ctx);
}

async function* untilSilent({ req }: Context): AsyncGenerator<Uint8Array> {
  const giveUp = (): void => void req.destroy(new Error("The body stopped arriving."));
  // Only while the service waits for the client, and not the other way round.
  let timer = setTimeout(giveUp, silenceMs);
  const chunks: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of chunks) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(giveUp, silenceMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function* unpacked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: false });
  const unpacking = createGunzip();
  // A failing source must end the unpacking, which a pipe alone would leave waiting.
  source.on("error", (failure) => unpacking.destroy(failure));
  source.pipe(unpacking);
  try {
    for await (const chunk of unpacking) yield chunk;
  } catch (failure) {
    const isBroken = failure instanceof Error && "code" in failure && String(failure.code).startsWith("Z_");
    throw isBroken ? new NotPacked("The body is not valid gzip.", { cause: failure }) : failure;
  } finally {
    source.destroy();
  }
}

async function* chunksOf(
  { req }: Context,
  maxBytes: number,
  take: BodyAccount["takeBytes"],
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  // The answer needs the connection, whichever side stops reading.
  const chunks: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyTooLarge(maxBytes);
    take(chunk.length);
    yield chunk;
  }
}
