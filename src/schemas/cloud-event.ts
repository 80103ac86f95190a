import { type Static, Type } from "typebox";
import { instant } from "./event-fields.ts";

const text = Type.String({ minLength: 1 });

/** What every message of the log is, whatever happened: CloudEvents 1.0. Open, as further extensions may come. */
export const cloudEvent = Type.Object({
  specversion: Type.Literal("1.0"),
  id: text,
  source: text,
  type: text,
  /** The id of the job. */
  subject: text,
  time: instant,
  datacontenttype: Type.Literal("application/json"),
  dataschema: text,
  actor: text,
  correlationid: Type.Optional(text),
  causationid: Type.Optional(text),
  data: Type.Unknown(),
});

export type CloudEvent = Static<typeof cloudEvent>;
