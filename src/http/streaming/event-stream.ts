import { Readable } from "node:stream";
import type { Live } from "../../live/live.ts";
import type { Checked } from "../../schemas/fault.ts";
import { type Answer, refuseForNow } from "../server/answer.ts";
import { readSequence } from "../server/query.ts";
import type { ApiRequest } from "../server/route.ts";

export const eventStreamType = "text/event-stream";
export const ndjsonType = "application/x-ndjson";

/** Proxies close connections on which nothing is said. */
export const heartbeatMs = 15_000;

/** Asks nothing of the client but to go on listening. */
export const heartbeat = ":\n\n";

/** How long a client waits before it connects again. */
export const beginOfStream = "retry: 1000\n\n";

/** One event of the WHATWG's format. JSON holds no line break, so it is one line of data. */
export const toServerSentEvent = (event: string, id: number, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/** The same, and moves on where the client would resume: it makes no event. */
export const moveOn = (id: number): string => `:\nid: ${id}\n\n`;

/** Words for whoever looks at the stream; programs skip them. */
export const comment = (text: string): string => `: ${text}\n\n`;

/**
 * An answer that goes on. Chunks are asked for as fast as the client takes them. The connection ends with it: kept, it
 * would hold up a service that stops. With the signal the chunks are to end.
 */
export function streaming(type: string, chunks: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Answer {
  const body = Readable.from(chunks);
  // A client that takes nothing would never see the end of it.
  signal.addEventListener("abort", () => setTimeout(() => body.destroy(), farewellMs).unref(), { once: true });
  return { status: 200, type, headers, body };
}

const headers = { "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", Connection: "close" };
const farewellMs = 1000;

/** The sequence that a client of a stream has seen last; null where it begins. An empty one means none, as in browsers. */
export const readLastEventId = (header: string | null): Checked<number | null> =>
  readSequence("Last-Event-ID", header || null, "the id of an event that was received");

export const lastEventIdFault = (sentence: string) => ({
  pointer: "Last-Event-ID",
  message: `Last-Event-ID ${sentence}`,
});

export type OpenedStream =
  | { readonly opened: true; readonly signal: AbortSignal }
  | { readonly opened: false; readonly answer: Answer };

type Asked = Pick<ApiRequest, "context" | "gone" | "isStillAdmitted">;

/** For an answer that goes on or waits: as long as the client stays and may, and the service goes on. */
export function openStream({ streams }: Live, { context, gone, isStillAdmitted }: Asked): OpenedStream {
  const opening = streams.open(context.tenant, gone(), isStillAdmitted);
  if (opening.outcome === "opened") return { opened: true, signal: opening.signal };
  switch (opening.limit) {
    case "tenant":
      return refused(refuseForNow("too-many-streams", "This tenant has as many streams open as it may.", 5));
    case "process":
      return refused(refuseForNow("no-stream-left", "This instance has as many streams open as it can serve.", 5));
    case "closing":
      return refused(refuseForNow("no-stream-left", "This instance is about to stop.", 1));
  }
}

const refused = (answer: Answer): OpenedStream => ({ opened: false, answer });
