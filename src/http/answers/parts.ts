import { type TProperties, type TSchema, Type } from "typebox";

/** What answers are made of. A schema with a `title` is one of the document's components, under that name. */
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ format: "date-time" });
export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });
export const ordinal = Type.Integer({ minimum: 1 });
export const jobId = Type.String({ format: "uuid" });
export const priority = Type.Enum(["high", "normal", "low"]);

export const error = Type.Object({ code: text, message: text }, { title: "Error" });

/** They add up to the total. */
export const progress = Type.Object(
  {
    sent: count,
    failed: count,
    total: count,
    pending: count,
    deferred: count,
    unknown: count,
    suppressed: count,
  },
  { title: "Progress", description: "How many recipients there are of each kind; the others add up to `total`." },
);

/** Whatever the names are, all values are alike. */
export const recordOf = <Schema extends TSchema, Value>(schema: Schema) =>
  Type.Unsafe<Readonly<Record<string, Value>>>({ type: "object", additionalProperties: schema });

export const named = <Fields extends TProperties>(title: string, fields: Fields) => Type.Object(fields, { title });

/** Of lists that go on by cursor. */
export const pageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, { data: Type.Array(schema), nextCursor: orNull(text) });

/** Of lists that can be asked for by number too; who goes on by cursor is on no page. */
export const numberedPageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, {
    data: Type.Array(schema),
    pagination: named("Pagination", {
      page: orNull(ordinal),
      pageSize: ordinal,
      total: count,
      totalPages: count,
      nextCursor: orNull(text),
    }),
  });
