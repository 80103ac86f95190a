import { setTimeout as pause } from "node:timers/promises";
import { LogRolledBack } from "./seal-observer.ts";
import type { Sealer } from "./sealer.ts";
import { stopWithin, usualGraceMs } from "./stop-within.ts";

export type SealerReports = {
  /** Called on every failed try. */
  readonly away: (failure: unknown) => void;
  readonly rolledBack: (failure: LogRolledBack) => void;
};

export type SealerCondition = {
  /** `degraded` recovers by itself; `down` needs an operator. */
  readonly status: "up" | "degraded" | "down";
  readonly reason: string | null;
};

export type RunningSealer = {
  readonly condition: () => SealerCondition;
  /** Resolves when the seal in progress is stored, or given up after `graceMs`: the next process makes it. */
  stop(graceMs?: number): Promise<void>;
};

const lookEveryMs = 2_000;
/** Waiting does not resolve a rollback: it is reported every minute until an operator acts. */
const lookAgainMs = 60_000;

/** Seals what is due until it is stopped, starting at once. */
export function runSealer(sealer: Sealer, reports: SealerReports, everyMs = lookEveryMs): RunningSealer {
  const stopping = new AbortController();
  let condition: SealerCondition = { status: "up", reason: null };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let delayMs = everyMs;
      try {
        await sealer.sealWhatIsDue();
        condition = { status: "up", reason: null };
      } catch (failure) {
        if (stopping.signal.aborted) return;
        if (failure instanceof LogRolledBack) {
          reports.rolledBack(failure);
          condition = { status: "down", reason: "log-rolled-back" };
          delayMs = Math.max(lookAgainMs, everyMs);
        } else {
          reports.away(failure);
          condition = { status: "degraded", reason: "not-sealing" };
        }
      }
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    condition: () => condition,
    stop: async (graceMs = usualGraceMs) => {
      stopping.abort();
      await stopWithin(graceMs, running);
    },
  };
}
