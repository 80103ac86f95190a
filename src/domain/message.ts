/** An instant as RFC 3339 in UTC with milliseconds, `2026-11-21T09:30:00.000Z`: such strings sort by time. */
export type Instant = string;

/** What every event of every stream looks like to the domain: what happened, when, and the facts of it. */
export type Message<Type extends string, Data> = {
  readonly type: Type;
  readonly at: Instant;
  readonly data: Data;
};
