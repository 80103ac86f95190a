import { setTimeout as pause } from "node:timers/promises";
import type { EventLog, LogState } from "../event-log.ts";

/**
 * How long a log that ends before events already read from it is doubted. A server that has just become the leader
 * answers before it has applied all its entries: it reports 925 as the last event, although 928 was projected long ago.
 */
export const believedAfterMs = 30_000;
const askAgainMs = 250;

/** How far a reader has come, and in which log; null before its first event. */
type Seen = { readonly sequence: number; readonly logCreatedAt: string | null };

/** Whether what was read belongs to this log, and the log has not lost its end since. */
export const isOfLog = ({ sequence, logCreatedAt }: Seen, { createdAt, lastSequence }: LogState): boolean =>
  logCreatedAt === createdAt && sequence <= lastSequence;

/**
 * Which log this is and how far it has come. Asks again while the log reports an end before a sequence that was already
 * seen in it. A log that was created again is reported at once, and so is one on a single server that has lost its end:
 * it might soon have other entries in their places. One of a cluster is reported after `believedMs`, or once the signal
 * aborts.
 */
export async function settledState(
  log: Pick<EventLog, "state">,
  seen: Seen,
  believedMs: number,
  signal: AbortSignal,
): Promise<LogState> {
  const begunAt = performance.now();
  for (;;) {
    const state = await log.state(signal);
    const isAnew = seen.logCreatedAt !== null && seen.logCreatedAt !== state.createdAt;
    if (isAnew || !state.mayLag || state.lastSequence >= seen.sequence) return state;
    if (signal.aborted || performance.now() - begunAt >= believedMs) return state;
    await pause(askAgainMs, undefined, { signal }).catch(() => {});
  }
}

/** Whether what was read belongs to the log once that is settled; before its first event it belongs to any. */
export const isOfSettledLog = async (log: Pick<EventLog, "state">, seen: Seen, signal: AbortSignal): Promise<boolean> =>
  seen.sequence === 0 || isOfLog(seen, await settledState(log, seen, believedAfterMs, signal));
