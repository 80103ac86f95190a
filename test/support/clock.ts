/** Sets the clock on the wall for as long as the work takes. What goes by the monotonic clock does not notice. */
export async function withClockSet<Result>(byMs: number, work: () => Promise<Result>): Promise<Result> {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      super(given.length === 0 ? RealDate.now() + byMs : given[0]);
    }
    static override now(): number {
      return RealDate.now() + byMs;
    }
  } as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
