import { Readable } from "node:stream";
import { type Cursor, readCursor } from "../../event-log/cursor.ts";
import type { Live } from "../../history/live/live.ts";
import { type Checked, failed, passed, shown } from "../../schemas/fault.ts";
import { type Answer, refuseForNow } from "../server/answer.ts";
import type { ApiRequest } from "../server/route.ts";

export const eventStreamType = "text/event-stream";
export const ndjsonType = "application/x-ndjson";

/** Proxies close idle connections. */
export const heartbeatMs = 15_000;

/** A comment: the client only keeps listening. */
export const heartbeat = ":\n\n";

/** How long a client waits before it reconnects. */
export const beginOfStream = "retry: 1000\n\n";

/** One event of the WHATWG format. JSON holds no line break, so one line of data is enough. */
export const toServerSentEvent = (event: string, id: number | string, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/** The same, and advances the id from which the client would resume; the client sees no event. */
export const moveOn = (id: number): string => `:\nid: ${id}\n\n`;

/** Text for a person who looks at the stream; programs skip it. */
export const comment = (text: string): string => `: ${text}\n\n`;

/**
 * An answer that goes on. The server asks for chunks as fast as the client takes them. The connection ends with the answer:
 * kept open, it would hold up a service that stops. The chunks must end when the signal aborts.
 */
export function streaming(type: string, chunks: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Answer {
  const body = Readable.from(chunks);
  // A client that reads nothing would never see the end of the answer.
  signal.addEventListener("abort", () => setTimeout(() => body.destroy(), farewellMs).unref(), { once: true });
  return { status: 200, type, headers, body };
}

/**
 * An answer that has an end, which a client must not take a stop of the service for: the chunks throw when the signal
 * aborts, and that breaks the connection. With `Connection: close` announced, some clients take even that for the end.
 */
export function streamingWhole(type: string, chunks: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Answer {
  const { Connection: _, ...others } = headers;
  return { ...streaming(type, chunks, signal), headers: others };
}

const headers = { "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", Connection: "close" };
const farewellMs = 1000;

/** What a client of a stream has seen last; null at the beginning. An empty header means none, as in browsers. */
export function readLastEventId(header: string | null): Checked<Cursor | null> {
  if (!header) return passed(null);
  const cursor = readCursor(header);
  return cursor === null
    ? failed([lastEventIdFault(`is ${shown(header)}; expected the id of an event that was received`)])
    : passed(cursor);
}

export const lastEventIdFault = (sentence: string) => ({
  pointer: "Last-Event-ID",
  message: `Last-Event-ID ${sentence}`,
});

export type OpenedStream =
  | { readonly opened: true; readonly signal: AbortSignal }
  | { readonly opened: false; readonly answer: Answer };

type Asked = Pick<ApiRequest, "context" | "gone" | "isStillAdmitted">;

/** For an answer that goes on or waits: until the client goes or loses its right, or the service stops. */
export function openStream({ streams }: Live, { context, gone, isStillAdmitted }: Asked): OpenedStream {
  const opening = streams.open(context.tenant, gone(), isStillAdmitted);
  if (opening.outcome === "opened") return { opened: true, signal: opening.signal };
  switch (opening.limit) {
    case "tenant":
      return refused(
        refuseForNow(
          "too-many-streams",
          "This tenant has the most streams open that it may have. Close one and try again.",
          5,
        ),
      );
    case "process":
      return refused(
        refuseForNow("no-stream-left", "This instance has the most streams open that it can serve. Try again.", 5),
      );
    case "closing":
      return refused(refuseForNow("no-stream-left", "This instance is about to stop. Reconnect to another one.", 1));
  }
}

const refused = (answer: Answer): OpenedStream => ({ opened: false, answer });
