import { type TSchema, Type } from "typebox";
import type { toEventAnswer } from "../../event-log/event-answer.ts";
import { events } from "../../schemas/events.ts";
import { count, instant, named, ordinal, text } from "./parts.ts";

/** The schema of an event's data is the schema that the log itself checks. */
const eventOf = ([type, { schema: data }]: readonly [string, { readonly schema: TSchema }]) =>
  named(`${type}Event`, {
    sequence: ordinal,
    index: count,
    type: Type.Literal(type),
    time: instant,
    jobId: text,
    tenant: text,
    actor: text,
    traceparent: Type.Optional(text),
    data,
  } satisfies Record<keyof ReturnType<typeof toEventAnswer>, TSchema>);

export const event = Type.Unsafe<ReturnType<typeof toEventAnswer>>({
  title: "Event",
  description:
    "One event as it was appended to the log. `sequence` is the position of its entry in the log, `index` its own in the entry.",
  anyOf: Object.entries(events).map(eventOf),
});

export const history = Type.Array(event);

export const eventPage = named("EventPage", {
  data: Type.Array(event),
  nextCursor: text,
  hasMore: Type.Boolean(),
});
