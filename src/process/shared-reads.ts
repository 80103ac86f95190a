import { setTimeout as pause } from "node:timers/promises";

/**
 * One reading for many callers: each gets the answer to a question that was asked after its call, and shares it with the
 * other callers of these milliseconds. The first caller for a while is not delayed.
 */
export function shareReads<Answer>(
  read: (key: string) => Promise<Answer>,
  atMostEveryMs: number,
): (key: string) => Promise<Answer> {
  const askedAt = new Map<string, number>();
  /** Questions that will be asked. */
  const next = new Map<string, Promise<Answer>>();

  const ask = (key: string): Promise<Answer> => {
    askedAt.set(key, performance.now());
    return read(key);
  };
  return (key) => {
    const waiting = next.get(key);
    if (waiting !== undefined) return waiting;
    const waitMs = (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) + atMostEveryMs - performance.now();
    if (waitMs <= 0) return ask(key);
    const asked = pause(waitMs).then(() => {
      next.delete(key);
      return ask(key);
    });
    next.set(key, asked);
    return asked;
  };
}
