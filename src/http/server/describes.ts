import type { TSchema } from "typebox";
import type { ProblemCode } from "../../problems/problem.ts";

/** What a route says of itself in the OpenAPI document, beside what its path, query, types and scope say already. */
export type Describes = {
  /** Unique, and stable: generated clients name their functions after it. */
  readonly operation: string;
  readonly summary: string;
  readonly body?: { readonly schema: TSchema; readonly isOptional: boolean };
  readonly headers?: readonly RequestHeader[];
  /** By status; none of them is a problem. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** What it works with, and so which of their troubles it can have. */
  readonly needs?: readonly Need[];
  /** Beside those that follow from the rest. */
  readonly problems?: readonly ProblemCode[];
};

export type DescribedAnswer = {
  readonly is: string;
  /** Of `application/json`; the other types that a route offers have no schema. */
  readonly json?: TSchema;
  /** Nothing but the status. */
  readonly isEmpty?: true;
  readonly headers?: readonly AnswerHeader[];
};

export const requestHeaders = {
  "Min-Sequence":
    "The `Event-Sequence` of an earlier answer, or the id of an event of a stream: the read model is waited for until it has come so far.",
  "Idempotency-Key":
    "1 to 255 visible characters. The same request with the same key makes one job, for ever: send one with every job, as after a 503, or no answer, the job may exist.",
  Prefer: "`wait=N`, at most 60: the answer comes when the job has ended, or after N seconds.",
  "Last-Event-ID": "The id of the last event that was received: the stream goes on after it.",
} as const;

export type RequestHeader = keyof typeof requestHeaders;

export const answerHeaders = {
  "Event-Sequence":
    "The place in the log of the last event that is in this answer, what was stored for it at the least; take it along as `Min-Sequence`.",
  "Read-Sequence": "How far the read model had come that answered.",
  Location: "The path of the new job.",
  "Idempotency-Replayed": "`true` where the job was there already.",
  "Preference-Applied": "Which preference was followed.",
  Link: '`<…>; rel="next"` where there is more.',
  "Content-Disposition": "A name for the file.",
} as const;

export type AnswerHeader = keyof typeof answerHeaders;

/** The log to read, the log to write, a read model, a place among the streams. */
export type Need = keyof typeof troubles;

export const troubles = {
  log: ["event-log-unavailable"],
  "log-writes": ["event-log-unavailable", "event-log-full"],
  "read-model": ["read-model-unavailable"],
  streams: ["too-many-streams", "no-stream-left"],
} as const satisfies Record<string, readonly ProblemCode[]>;

export const needed = (schema: TSchema) => ({ schema, isOptional: false });
export const optional = (schema: TSchema) => ({ schema, isOptional: true });
