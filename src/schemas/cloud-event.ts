import { type Static, Type } from "typebox";
import { instant } from "./event-fields.ts";

const text = Type.String({ minLength: 1 });

/** What every message of the log is, whatever happened: CloudEvents 1.0. Open, as further extensions may come. */
export const cloudEvent = Type.Object({
  specversion: Type.Literal("1.0"),
  id: text,
  source: text,
  type: text,
  /** The id of the job, or the name of what of the service it is about. */
  subject: text,
  time: instant,
  datacontenttype: Type.Literal("application/json"),
  dataschema: text,
  actor: text,
  correlationid: Type.Optional(text),
  causationid: Type.Optional(text),
  /** The Distributed Tracing extension. Not looked at here: a trace that cannot be read makes no event unreadable. */
  traceparent: Type.Optional(Type.Unknown()),
  data: Type.Unknown(),
});

export type CloudEvent = Static<typeof cloudEvent>;
