import { setTimeout as pause } from "node:timers/promises";
import type { EventLog, LogState } from "../../src/event-log/event-log.ts";

/**
 * An end of the log before what was read of it is believed after so long. A server that has just become the leader
 * answers before it has applied all that it has: 925 is said to be the last event, and 928 was projected long ago.
 */
export const believedAfterMs = 30_000;
const askAgainMs = 250;

/**
 * Which log it is and how far it has come, asked again while it says that it ends before a sequence that was seen in
 * it. A log that was made anew is told at once, one that has lost its end after `believedMs`, or once the signal aborts.
 */
export async function settledState(
  log: Pick<EventLog, "state">,
  seen: { readonly sequence: number; readonly logCreatedAt: string | null },
  believedMs: number,
  signal: AbortSignal,
): Promise<LogState> {
  const begunAt = performance.now();
  for (;;) {
    const state = await log.state();
    const isAnew = seen.logCreatedAt !== null && seen.logCreatedAt !== state.createdAt;
    if (isAnew || state.lastSequence >= seen.sequence) return state;
    if (signal.aborted || performance.now() - begunAt >= believedMs) return state;
    await pause(askAgainMs, undefined, { signal }).catch(() => {});
  }
}
