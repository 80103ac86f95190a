import { setTimeout as pause } from "node:timers/promises";

export type Polling = {
  /** Does what is due. `more` where more may be due at once, `done` where it can wait for the next time. */
  readonly poll: () => Promise<"more" | "done">;
  readonly everyMs: number;
  /** Hears of every poll that failed. */
  readonly report: (failure: unknown) => void;
};

const afterFailureMs = 2000;

/** Polls until the signal aborts, one at a time, and never rejects: one that fails is reported, and tried again later. */
export async function keepPolling({ poll, everyMs, report }: Polling, stopping: AbortSignal): Promise<void> {
  const pollOnce = async (): Promise<number> => {
    try {
      return (await poll()) === "more" ? 0 : everyMs;
    } catch (failure) {
      report(failure);
      return afterFailureMs;
    }
  };
  while (!stopping.aborted) {
    const delayMs = await pollOnce();
    await pause(delayMs, undefined, { signal: stopping }).catch(() => {});
  }
}
