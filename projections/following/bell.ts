/** Wakes everybody who waits for it. Whoever hears it looks for himself what has changed. */
export type Bell = {
  readonly ring: () => void;
  /** Resolves with the next ring. */
  readonly heard: () => Promise<void>;
};

export function createBell(): Bell {
  let waiting: (() => void)[] = [];
  return {
    ring: () => {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    heard: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}
