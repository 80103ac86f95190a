import { type Static, type TProperties, type TSchema, Type } from "typebox";
import type { Frozen } from "../../schemas/events.ts";

/** What a route answers where this schema describes it. The dashboard reads answers by the same type. */
export type AnswerOf<Schema extends TSchema> = Frozen<Static<Schema>>;

/** What answers are made of. A schema with a `title` is one of the document's components, under that name. */
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ format: "date-time" });
export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });
export const ordinal = Type.Integer({ minimum: 1 });
export const jobId = Type.String({ format: "uuid" });
export const priority = Type.Enum(["high", "normal", "low"]);

/** Kinds of jobs add codes of their own. */
const code = Type.String({
  description:
    "Stable. Of a failed job: `too-many-failures`, `attempts-exhausted`, `smtp-unavailable`, `expired`, `content-erased`, " +
    "`too-many-takeovers` (within one attempt five workers took it over from one that died or broke off), among others.",
});

export const error = Type.Object({ code, message: text }, { title: "Error" });

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
export const recordOf = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Readonly<Record<string, Static<Schema>>>>({ type: "object", additionalProperties: schema });

export const named = <Fields extends TProperties>(title: string, fields: Fields) => Type.Object(fields, { title });

/** Of lists that go on by cursor. */
export const pageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, { data: Type.Array(schema), nextCursor: orNull(text) });

const numberedPage = <Total extends TSchema, Cursor extends TSchema>(title: string, total: Total, nextCursor: Cursor) =>
  named(title, { page: orNull(ordinal), pageSize: ordinal, total, totalPages: total, nextCursor });

/** Of lists that can be asked for by number too; who goes on by cursor is on no page. */
export const numberedPageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, { data: Type.Array(schema), pagination: numberedPage("Pagination", count, orNull(text)) });

/** Of lists that are too long to be looked through, or counted, for one answer. */
export const searchedPageOf = <Schema extends TSchema>(title: string, schema: Schema) => {
  const total = Type.Union([count, Type.Null()], {
    description:
      "`null` where counting would take too long: in a search that has not looked at all jobs, and for more than 100,000 jobs created in the time asked for (5,000 with `type`).",
  });
  const nextCursor = Type.Union([text, Type.Null()], {
    description:
      "`null` at the end. In a search (`q`) a page may be short or empty and have one: nothing more was found so far, and it goes on from there.",
  });
  return named(title, { data: Type.Array(schema), pagination: numberedPage("SearchedPagination", total, nextCursor) });
};

/** Names a run of a job in a path (see toRunRef): dead letters and notifications are each of one run. */
export const runId = (jobId: string, run: number): string => `${jobId}.${run}`;
