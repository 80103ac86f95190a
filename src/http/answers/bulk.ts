import { Type } from "typebox";
import type { Acted } from "../../intake/act-on-many.ts";
import { type AnswerOf, count, instant, named, orNull, text } from "./parts.ts";

const nothingYet = {
  asOf: "2026-11-21T09:30:00.000Z",
  matched: 322,
  changed: [],
  unchanged: 0,
  skipped: [],
  nextCursor: null,
};

/** What one call did. `matched` is null where the call began in the middle, with a cursor. */
export const bulkResult = Type.Object(
  {
    asOf: instant,
    matched: orNull(count),
    /** `jobId` is the job itself; of a dead letter, its job, or the new one that took over. */
    changed: Type.Array(named("BulkChanged", { id: text, jobId: text })),
    unchanged: count,
    skipped: Type.Array(named("BulkSkipped", { id: text, code: text })),
    nextCursor: orNull(text),
  },
  { title: "BulkResult", examples: [nothingYet] },
);

export type BulkAnswer = AnswerOf<typeof bulkResult>;

export const toBulkAnswer = (
  asOf: string,
  matched: number | null,
  { acted, nextCursor }: { readonly acted: readonly Acted[]; readonly nextCursor: string | null },
): BulkAnswer => ({
  asOf,
  matched,
  changed: acted.flatMap((one) => (one.outcome === "changed" ? [{ id: one.id, jobId: one.jobId }] : [])),
  unchanged: acted.filter(({ outcome }) => outcome === "unchanged").length,
  skipped: acted.flatMap((one) => (one.outcome === "skipped" ? [{ id: one.id, code: one.code }] : [])),
  nextCursor,
});
