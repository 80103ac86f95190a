import { type Static, Type } from "typebox";
import { instant } from "./event-fields.ts";

const text = Type.String({ minLength: 1 });

/** The common form of every message of the log: CloudEvents 1.0. Open, because further extensions may be added. */
export const cloudEvent = Type.Object({
  specversion: Type.Literal("1.0"),
  id: text,
  source: text,
  type: text,
  /** The id of the job, or the name of the part of the service that it is about. */
  subject: text,
  time: instant,
  datacontenttype: Type.Literal("application/json"),
  dataschema: text,
  actor: text,
  correlationid: Type.Optional(text),
  causationid: Type.Optional(text),
  /**
   * The Distributed Tracing extension. It is not validated here: an invalid trace must not make an event unreadable.
   */
  traceparent: Type.Optional(Type.Unknown()),
  data: Type.Unknown(),
});

/** An entry of the log, as JSON. */
export const cloudEvents = Type.Array(cloudEvent, { minItems: 1 });

export type CloudEvent = Static<typeof cloudEvent>;
