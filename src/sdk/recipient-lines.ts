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

/** Browsers cannot send what is still being made, or only over HTTP/2: there the lines are gathered first. */
const canStream = !("document" in globalThis || "importScripts" in globalThis);

/** One item a line, in JSON. */
export async function toLinesBody<Item>(items: Lines<Item>): Promise<LinesBody> {
  if (typeof items === "string") throw new TypeError("The items are a text; expected an array, or another iterable.");
  const linesOf = () => toNdjson(typeof items === "function" ? items() : items);
  if (!canStream) {
    const gathered = await gather(linesOf());
    return { open: () => gathered, broken: () => null, opensOnce: false };
  }
  let broken: { readonly reason: unknown } | null = null;
  const onFailure = (reason: unknown): void => {
    broken = { reason };
  };
  return {
    open: () => toStream(linesOf(), onFailure),
    broken: () => broken,
    opensOnce: typeof items !== "function" && !Array.isArray(items),
  };
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
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (failure) {
        onFailure(failure);
        throw failure;
      }
    },
    cancel: async () => {
      await chunks.return(undefined);
    },
  });
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
