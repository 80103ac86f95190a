import { type Static, type TObject, type TSchema, Type } from "typebox";
import { priorities } from "../domain/job/events.ts";

/** Closed: a version of a type has exactly these fields in the log. A new field is a new version (see upcast.ts). */
export const data = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });
export const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const natural = Type.Integer({ minimum: 0 });
export const positive = Type.Integer({ minimum: 1 });
export const reason = orNull(Type.String());
export const priority = Type.Enum([...priorities]);
/** Open: a newer release may have created a job of a kind that this one does not know. It is part of a subject. */
export const jobType = Type.String({ maxLength: 32, pattern: "^[a-z]+\\.[a-z]+$" });

/** Why a job, an attempt or a delivery ended badly. */
export const jobError = data({ code: Type.String(), message: Type.String() });
export const counts = data({
  total: natural,
  sent: natural,
  failed: natural,
  pending: natural,
  deferred: natural,
  unknown: natural,
  suppressed: natural,
});

/** The stored letter that a request named. */
export const templateUse = data({ name: Type.String(), version: positive, sha256 });

export const turn = { run: positive, attempt: positive };
export const queueing = { type: jobType, priority, groupSha256: orNull(sha256) };

/** The channel of its job, or of the service, that an event belongs to. */
export type EventChannel =
  | "job"
  | "facts"
  | "feedback"
  | "mailing"
  | "schedule"
  | "alert"
  | "seal"
  | "pass"
  | "archive"
  | "throttle";

export type EventDescription = { readonly channel: EventChannel; readonly schema: TSchema; readonly example: unknown };

/**
 * Describes events of a channel: the fields of their data, and an example, which is the one recorded under test/golden.
 */
export const on =
  <Channel extends EventChannel>(channel: Channel) =>
  <Fields extends Record<string, TSchema>>(fields: Fields, example: Static<TObject<Fields>>) => ({
    channel,
    schema: data(fields),
    example,
  });
