import type { Context } from "koa";
import { type Answer, refuse } from "./answer.ts";
import type { BodyAccount } from "./body-budget.ts";
import { drain, refuseCharset, refuseSize, toldLength } from "./read-body.ts";

/** A body that is read while it arrives. */
export type StreamedBody<Type extends string = string> = {
  /** One of the types that the route takes, without its parameters. */
  readonly type: Type;
  /** Can be read once, from the beginning. The rest of a body that is not read to its end is discarded. */
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** For a route that takes a stream: the types that it accepts, and the limit in bytes. */
export type Streams = { readonly types: readonly string[]; readonly maxBytes: number };

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/**
 * Passes the body to the route as it arrives, and answers with the result; a body over the limit is refused on the way.
 * Throws NoRoomForBody as readBody does: the result of a stream stays in memory, too.
 */
export async function withStreamedBody(
  ctx: Context,
  account: BodyAccount,
  { types, maxBytes }: Streams,
  handle: (body: StreamedBody) => Promise<Answer>,
): Promise<Answer> {
  const type = ctx.is([...types]);
  if (typeof type !== "string") {
    const given = ctx.get("Content-Type");
    const found = given === "" ? "missing" : JSON.stringify(given);
    return refuse("unsupported-media-type", `Content-Type is ${found}; expected ${types.join(" or ")}.`);
  }
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  if (!["", "identity"].includes(encoding)) {
    const detail = `Content-Encoding is ${JSON.stringify(encoding)}; expected none, as the service reads this body while it arrives.`;
    return refuse("unsupported-media-type", detail, { headers: { "Accept-Encoding": "identity" } });
  }
  const refusal = refuseCharset(ctx);
  if (refusal !== null) return refusal;
  const length = toldLength(ctx);
  if (length !== null && length <= maxBytes) account.takeBytes(length);
  const take = length === null ? account.takeBytes : (): void => {};
  try {
    const answer = await handle({ type, chunks: chunksOf(ctx, maxBytes, take) });
    if (ctx.req.readableEnded) return answer;
    await drain(ctx);
    return { ...answer, headers: { ...answer.headers, Connection: "close" } };
  } catch (failure) {
    if (!(failure instanceof BodyTooLarge)) throw failure;
    await drain(ctx);
    return refuseSize(maxBytes);
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
    if (bytes > maxBytes) throw new BodyTooLarge(`The body is larger than ${maxBytes} bytes.`);
    take(chunk.length);
    yield chunk;
  }
}
