// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
type Json = any;

export type StreamEvent = {
  readonly event: string;
  readonly id: number;
  /** The id as it was written: 9.10 is another place than 9.1. */
  readonly place: string;
  readonly data: Json;
};

export type OpenStream = {
  readonly status: number;
  readonly headers: Headers;
  /** As they come, until the server ends the stream or the client goes. */
  readonly events: AsyncIterable<StreamEvent>;
  /** The client goes. */
  close(): void;
};

/** Opens a stream as a browser does. */
export async function openStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenStream> {
  const going = new AbortController();
  const response = await fetch(url, { headers: { Accept: "text/event-stream", ...headers }, signal: going.signal });
  const close = (): void => going.abort();
  return { status: response.status, headers: response.headers, events: eventsOf(response, going.signal), close };
}

async function* eventsOf(response: Response, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  for await (const block of piecesOf(response, "\n\n", signal)) {
    const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
    const data = fields.get("data");
    if (data === undefined) continue;
    const place = fields.get("id") ?? "";
    yield { event: fields.get("event") ?? "", id: Number(place), place, data: JSON.parse(data) };
  }
}

/** What comes, cut at a separator; the end is quiet where the client itself went. */
export async function* piecesOf(response: Response, separator: string, signal: AbortSignal): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split(separator);
      rest = pieces.pop() ?? "";
      yield* pieces;
    }
  } catch (failure) {
    if (!signal.aborted) throw failure;
  }
}

/** Reads until enough was read, and goes. */
export async function readUntil(
  stream: OpenStream,
  isEnough: (read: readonly StreamEvent[]) => boolean,
): Promise<readonly StreamEvent[]> {
  const read: StreamEvent[] = [];
  for await (const event of stream.events) {
    read.push(event);
    if (isEnough(read)) break;
  }
  stream.close();
  return read;
}

/** Reads until the server ends the stream. */
export const readToEnd = (stream: OpenStream): Promise<readonly StreamEvent[]> => readUntil(stream, () => false);
