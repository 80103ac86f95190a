/** What a route answers, before it becomes bytes. `body` is a JSON value, bytes of another type, or a stream of them. */
export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Answered in its place, where that is to be waited for: asked when the body of the request was given back. */
  readonly later?: () => Promise<Answer>;
};

export const json = (body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Answer => ({
  status,
  type: "application/json",
  headers,
  body,
});
