export type Wake = {
  /** Ends the sleep that is going on, if there is one. */
  readonly ring: () => void;
  /** Until the next ring, the end of the time, or the signal. Whoever sleeps looks first, and again afterwards. */
  readonly sleep: (ms: number) => Promise<void>;
};

/** For one sleeper. */
export function createWake(signal: AbortSignal): Wake {
  let wakeUp = (): void => {};
  return {
    ring: () => wakeUp(),
    sleep: (ms) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          wakeUp = () => {};
          resolve();
        };
        const timer = setTimeout(done, Math.max(0, ms));
        signal.addEventListener("abort", done);
        wakeUp = done;
        if (signal.aborted) done();
      }),
  };
}
