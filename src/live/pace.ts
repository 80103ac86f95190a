/** After each piece of work a rest of twice the time that it took, so that most of the time is left to others. */
const restShare = 2;
const leastRestMs = 1;
/** However slow the log is just now. */
const longestRestMs = 250;

/** Does pieces of work one after the other, in the order in which they were asked for, and rests after each. */
export function createPace(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let rested: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = rested;
    let done = (): void => {};
    rested = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      const tookMs = performance.now() - beganAt;
      setTimeout(done, Math.min(longestRestMs, Math.max(leastRestMs, tookMs * restShare)));
    }
  };
}
