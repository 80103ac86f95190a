import { type Static, type TProperties, type TSchema, Type } from "typebox";
import { priorities } from "../../domain/job/events.ts";
import type { Frozen } from "../../schemas/events.ts";

/** The type of the answer that this schema describes. The dashboard reads answers by the same type. */
export type AnswerOf<Schema extends TSchema> = Frozen<Static<Schema>>;

/** Schemas that answers share. A schema with a `title` becomes a component of the document, under that name. */
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ format: "date-time" });
export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });
export const ordinal = Type.Integer({ minimum: 1 });
export const jobId = Type.String({ format: "uuid" });
export const priority = Type.Enum([...priorities]);

/** Each kind of job adds codes of its own. */
const code = Type.String({
  description:
    "Stable. Of a failed job: `too-many-failures`, `attempts-exhausted`, `smtp-unavailable`, `expired`, `no-route`, `content-erased`, " +
    "`too-many-takeovers` (within one attempt five workers took it over from one that died or broke off), among others.",
});

export const error = Type.Object({ code, message: text }, { title: "Error" });

/** The version of a template whose words were taken over. */
export const templateUse = Type.Object({ name: text, version: ordinal, sha256: text }, { title: "TemplateUse" });

const counts = {
  sent: count,
  failed: count,
  total: count,
  pending: count,
  deferred: count,
  unknown: count,
  suppressed: count,
};

/** The counts add up to the total. */
export const outcomeCounts = Type.Object(counts, {
  title: "OutcomeCounts",
  description: "How many recipients there are of each kind; the others add up to `total`.",
});

export const progress = Type.Object(
  { ...counts, bounced: count, complained: count },
  {
    title: "Progress",
    description:
      "How many recipients there are of each kind; the others add up to `total`, without `bounced` and `complained`: " +
      "those were sent, and reports came back about them.",
  },
);

/** An object with any names, whose values all have the same type. */
export const recordOf = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Readonly<Record<string, Static<Schema>>>>({ type: "object", additionalProperties: schema });

export const named = <Fields extends TProperties>(title: string, fields: Fields) => Type.Object(fields, { title });

/** For lists that are paged by cursor. */
export const pageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, { data: Type.Array(schema), nextCursor: orNull(text) });

const numberedPage = <Total extends TSchema, Cursor extends TSchema>(title: string, total: Total, nextCursor: Cursor) =>
  named(title, { page: orNull(ordinal), pageSize: ordinal, total, totalPages: total, nextCursor });

/** For lists that can also be paged by number. `page` is null for a client that pages by cursor. */
export const numberedPageOf = <Schema extends TSchema>(title: string, schema: Schema) =>
  named(title, { data: Type.Array(schema), pagination: numberedPage("Pagination", count, orNull(text)) });

/** For lists that are too long to be searched, or counted, within one answer. */
export const searchedPageOf = <Schema extends TSchema>(title: string, schema: Schema) => {
  const total = Type.Union([count, Type.Null()], {
    description:
      "`null` where counting would take too long: in a search that has not looked at all jobs, and for more than 100,000 jobs created in the time asked for (5,000 with `type`).",
  });
  const nextCursor = Type.Union([text, Type.Null()], {
    description:
      "`null` at the end. In a search (`q`, `type`, or by `completedAt` with a time of creation) a short or even empty page may have a cursor: the search has found nothing more so far and continues from there.",
  });
  return named(title, { data: Type.Array(schema), pagination: numberedPage("SearchedPagination", total, nextCursor) });
};

/** Names one run of a job in a path (see toRunRef): each dead letter and each notification belongs to one run. */
export const runId = (jobId: string, run: number): string => `${jobId}.${run}`;
