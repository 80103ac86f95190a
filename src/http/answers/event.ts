import { type TSchema, Type } from "typebox";
import type { toEventAnswer } from "../../event-log/event-answer.ts";
import { events } from "../../schemas/events.ts";
import { count, instant, named, ordinal, text } from "./parts.ts";

/** The schema of an event's data is the schema that the log itself checks. */
const eventOf = ([type, { schema: data, example }]: readonly [string, Described]) =>
  Type.Object(
    {
      sequence: ordinal,
      index: count,
      type: Type.Literal(type),
      time: instant,
      jobId: text,
      tenant: text,
      actor: text,
      traceparent: Type.Optional(text),
      data,
    } satisfies Record<keyof ReturnType<typeof toEventAnswer>, TSchema>,
    { title: `${type}Event`, examples: [{ ...head, type, data: example }] },
  );

type Described = { readonly schema: TSchema; readonly example: unknown };

const head = {
  ...{ sequence: 1042, index: 0, time: "2026-11-21T09:30:00.000Z", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0e" },
  ...{ tenant: "default", actor: "key:9f2e3d5c" },
};

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
