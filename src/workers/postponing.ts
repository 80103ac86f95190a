const firstMs = 1000;
const longestMs = 15_000;
/** Looking at one again costs the log two reads, and the server hands it out before turns that have not been looked at. */
const eachMs = 10;

/**
 * How long to wait before looking again at a turn whose job cannot begin yet, by how often it was looked at. Thousands of
 * jobs may wait for the same mail server: the more wait, the longer each does, so that those of others get their share.
 */
export function createPostponing(): (times: number) => number {
  let waiting = 0;
  return (times) => {
    const usual = Math.min(longestMs, firstMs * 2 ** Math.min(times, 10)) * (0.75 + Math.random() / 4);
    waiting += 1;
    const delayMs = Math.max(usual, waiting * eachMs);
    setTimeout(() => {
      waiting -= 1;
    }, delayMs).unref();
    return delayMs;
  };
}
