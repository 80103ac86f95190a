import type { JobRef } from "../../event-log/event-log.ts";
import type { Live } from "../../history/live/live.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { readSequence } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import type { ApiRequest } from "../server/route.ts";
import { eventStreamType, lastEventIdFault, openStream, streaming, toServerSentEvent } from "./event-stream.ts";
import { progressFrames, type Watch } from "./progress-frames.ts";

/** A job or a mailing that a client watches. */
type Watched<Moment> = {
  readonly name: "job" | "mailing";
  readonly notFound: () => Answer;
  /** Null where the log has no such thing; `seen` is the last event that the client has. */
  readonly watch: (ref: JobRef, seen: number | null, signal: AbortSignal) => Promise<Watch<Moment> | null>;
  readonly hasEnded: (moment: Moment) => boolean;
  /** The data of a frame, which the client sees from then on. */
  readonly show: (ref: JobRef, moment: Moment) => object;
  readonly betweenProgressMs: number;
};

/** Its progress as Server-Sent Events, until it has ended. */
export async function streamProgress<Moment extends { readonly sequence: number }>(
  live: Live,
  request: ApiRequest,
  { name, notFound, watch: begin, hasEnded, show, betweenProgressMs }: Watched<Moment>,
): Promise<Answer> {
  const { context, part, header } = request;
  const lastEventId = readSequence(
    "Last-Event-ID",
    header("Last-Event-ID") || null,
    "the id of an event that was received",
  );
  if (!lastEventId.valid) return refuseFaults(lastEventId.faults);
  const seen = lastEventId.value;
  const ref = toJobRef(context, part(`${name}Id`));
  if (ref === null) return notFound();
  const stream = openStream(live, request);
  if (!stream.opened) return stream.answer;
  const watch = await begin(ref, seen, stream.signal);
  if (watch === null) return notFound();
  const now = watch.now();
  if (now !== null && (seen ?? 0) > now.sequence) {
    return refuseFaults([lastEventIdFault(`is ${seen}; the ${name}'s last event is ${now.sequence}`)]);
  }
  // The client has seen the end, and a browser would reconnect for ever: 204 makes it stop.
  if (now !== null && hasEnded(now) && !watch.hasStatus()) return { ...json(null), status: 204 };
  const frame = (event: string, moment: Moment): string => toServerSentEvent(event, moment.sequence, show(ref, moment));
  return streaming(
    eventStreamType,
    progressFrames(watch, { frame, hasEnded, betweenProgressMs }, stream.signal),
    stream.signal,
  );
}
