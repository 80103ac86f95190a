import { setTimeout as pause } from "node:timers/promises";

export type Polling = {
  /** Does the work that is due. Returns `more` if more may be due at once, `done` if the rest can wait for the next poll. */
  readonly poll: (stopping: AbortSignal) => Promise<"more" | "done">;
  readonly everyMs: number;
  /** Is called with every failure of a poll. */
  readonly report: (failure: unknown) => void;
};

export type PollLoop = {
  start(): void;
  /** Starts no further poll and waits for the running one. */
  stop(): Promise<void>;
};

export function createPollLoop(polling: Polling): PollLoop {
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;
  return {
    start: () => {
      loop ??= keepPolling(polling, stopping.signal);
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

const afterFailureMs = 2000;

/** Polls until the signal aborts, one poll at a time. It never rejects: a poll that fails is reported and repeated later. */
export async function keepPolling({ poll, everyMs, report }: Polling, stopping: AbortSignal): Promise<void> {
  const pollOnce = async (): Promise<number> => {
    try {
      return (await poll(stopping)) === "more" ? 0 : everyMs;
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
