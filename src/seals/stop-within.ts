import { setTimeout as pause } from "node:timers/promises";

/** What hangs when a process stops is left to the next one: a seal is made again, or published again. */
export const usualGraceMs = 2_000;

/** Waits for work that was told to stop, but no longer than this. */
export async function stopWithin(graceMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const grace = pause(graceMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, grace]);
  over.abort();
}
