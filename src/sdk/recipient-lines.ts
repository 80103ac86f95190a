import type { MailRecipient } from "./types.ts";

type Items<Item> = Iterable<Item> | AsyncIterable<Item> | ReadableStream<Item>;

/** Items as they come. An array, or a function that begins anew each time, allows the import to be repeated. */
export type Lines<Item> = Items<Item> | (() => Items<Item>);

export type Recipients = Lines<MailRecipient>;

/** The body of an import, for the transport. */
export type LinesBody = {
  readonly open: () => ReadableStream<Uint8Array<ArrayBuffer>> | Blob;
  readonly broken: () => { readonly reason: unknown } | null;
  readonly opensOnce: boolean;
};

const chunkLength = 65_536;

/**
 * While the source is slow, a blank goes out. The service takes a body of which nothing comes for 30 s for broken off, and waits
 * 10 s for the headers, which Node sends with the first of the body.
 */
const usualSilenceMs = 5_000;
/** No line of its own: the faults of an import name lines by their numbers. */
const blank = new TextEncoder().encode(" ");

/** Browsers cannot send what is still being made, or only over HTTP/2: there the lines are gathered first. */
const canStream = !("document" in globalThis || "importScripts" in globalThis);

/** One item a line, in JSON. */
export async function toLinesBody<Item>(items: Lines<Item>, silenceMs = usualSilenceMs): Promise<LinesBody> {
  const linesOf = linesIn(items);
  if (!canStream) return await toGatheredBody(items);
  let broken: { readonly reason: unknown } | null = null;
  const onFailure = (reason: unknown): void => {
    broken = { reason };
  };
  return {
    open: () => toStream(linesOf(), onFailure, silenceMs),
    broken: () => broken,
    opensOnce: typeof items !== "function" && !Array.isArray(items),
  };
}

/** The same, gathered first: for what the service takes whole, and within its time for a request, however slow the source is. */
export async function toGatheredBody<Item>(items: Lines<Item>): Promise<LinesBody> {
  const gathered = await gather(linesIn(items)());
  return { open: () => gathered, broken: () => null, opensOnce: false };
}

function linesIn<Item>(items: Lines<Item>): () => AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (typeof items === "string") throw new TypeError("The items are a text; expected an array, or another iterable.");
  return () => toNdjson(typeof items === "function" ? items() : items);
}

/** Reads no further ahead than a chunk. */
async function* toNdjson<Item>(items: Items<Item>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let text = "";
  for await (const item of isStream(items) ? itemsOf(items) : items) {
    text += `${JSON.stringify(item)}\n`;
    if (text.length < chunkLength) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}

function toStream(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  onFailure: (reason: unknown) => void,
  silenceMs: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next: ReturnType<typeof chunks.next> | null = null;
  const ask = (): ReturnType<typeof chunks.next> => {
    const asked = chunks.next();
    // The source may fail between two reads; the next one tells.
    asked.catch(() => {});
    return asked;
  };
  return new ReadableStream({
    pull: async (controller) => {
      next ??= ask();
      const found = await within(next, silenceMs).catch((failure: unknown) => {
        onFailure(failure);
        throw failure;
      });
      if (found !== null) next = null;
      if (found?.done === true) controller.close();
      else controller.enqueue(found?.value ?? blank);
    },
    cancel: async () => {
      await chunks.return(undefined);
    },
  });
}

/** Null where the time is up before. */
async function within<Result>(promise: Promise<Result>, ms: number): Promise<Result | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function gather(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return new Blob(parts);
}

const isStream = <Item>(items: Items<Item>): items is ReadableStream<Item> => "getReader" in items;

/** Not all browsers can iterate over a stream. */
async function* itemsOf<Item>(stream: ReadableStream<Item>): AsyncGenerator<Item> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
