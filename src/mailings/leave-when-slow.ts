/** A client has had its time by then, and those who wait for a place have some of theirs left. */
const slowAfterMs = 2000;

export type Place = {
  /** May be called more than once. */
  readonly leave: () => void;
  /** Takes a place among the slow ones, and returns what leaves that; null where there is none. */
  readonly takeSlow: () => (() => void) | null;
};

export type SlowFile = {
  /** The same chunks. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** To be called once the file is not worked on any more. */
  readonly end: () => void;
};

/** Exchanges the place for one among the slow ones, once the file has been waited for that long in all. */
export function leaveWhenSlow(
  chunks: AsyncIterable<Uint8Array>,
  { leave, takeSlow }: Place,
  mayLeave: () => boolean,
  afterMs = slowAfterMs,
): SlowFile {
  let leaveSlow: (() => void) | null = null;
  let isOver = false;
  const exchange = (): void => {
    if (isOver || leaveSlow !== null || !mayLeave()) return;
    leaveSlow = takeSlow();
    if (leaveSlow !== null) leave();
  };
  async function* watched(): AsyncGenerator<Uint8Array> {
    let [leftMs, askedAt] = [afterMs, performance.now()];
    let timer = setTimeout(exchange, leftMs);
    try {
      for await (const chunk of chunks) {
        clearTimeout(timer);
        leftMs = Math.max(0, leftMs - (performance.now() - askedAt));
        yield chunk;
        askedAt = performance.now();
        timer = setTimeout(exchange, leftMs);
      }
    } finally {
      clearTimeout(timer);
    }
  }
  const end = (): void => {
    isOver = true;
    leaveSlow?.();
  };
  return { chunks: watched(), end };
}
