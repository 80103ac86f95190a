import { type TSchema, Type } from "typebox";

/** Closed: what is not in a version of a type is not in the log. A new field is a new version (see upcast.ts). */
export const data = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });
export const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const natural = Type.Integer({ minimum: 0 });
export const positive = Type.Integer({ minimum: 1 });
export const reason = orNull(Type.String());
export const priority = Type.Enum(["high", "normal", "low"]);
/** Open: a newer release may have made a job of a kind that this one does not know. It is part of a subject. */
export const jobType = Type.String({ maxLength: 32, pattern: "^[a-z]+\\.[a-z]+$" });

export const turn = { run: positive, attempt: positive };
export const queueing = { type: jobType, priority, groupSha256: orNull(sha256) };
