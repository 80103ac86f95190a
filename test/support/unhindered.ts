const stepMs = 10;

/**
 * How long the work takes, in ms, less the time in which this process could do nothing: for a promise in seconds, where a
 * busy machine is not what is looked at.
 */
export async function unhinderedMs(work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  const hinderedMs = await hindranceDuring(work);
  return performance.now() - begunAt - hinderedMs;
}

/** For how many ms this process could do nothing while the work went on. */
export async function hindranceDuring(work: () => Promise<unknown>): Promise<number> {
  let lookedAt = performance.now();
  let hinderedMs = 0;
  const look = (): void => {
    const now = performance.now();
    hinderedMs += Math.max(0, now - lookedAt - stepMs);
    lookedAt = now;
  };
  const timer = setInterval(look, stepMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    look();
  }
  return hinderedMs;
}
