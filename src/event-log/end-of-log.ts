import { setTimeout as pause } from "node:timers/promises";
import type { EventLog } from "./event-log.ts";

const doubtedMs = 1000;
const askAgainMs = 100;

/**
 * The last sequence of the log, asked for again for a moment where it seems to be before one that a client has seen: a new
 * leader answers before it has caught up, and just then clients come again.
 */
export async function endOfLog(log: Pick<EventLog, "state">, seen: number): Promise<number> {
  const begunAt = performance.now();
  for (;;) {
    const { lastSequence } = await log.state();
    if (lastSequence >= seen || performance.now() - begunAt >= doubtedMs) return lastSequence;
    await pause(askAgainMs);
  }
}
