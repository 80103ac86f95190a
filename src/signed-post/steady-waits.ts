type Waits<Context> = { readonly next: (context: Context) => Wait<Context> };
type Wait<Context> = Waits<Context> & { readonly duration: number };

/**
 * The waits of a circuit breaker, each from the moment at which it is asked for, by the monotonic clock `now`. The library
 * compares their durations with the clock on the wall, and would hold a breaker open for as long as that was set back.
 */
export const steadily = <Context>(waits: Waits<Context>, now: () => number): Waits<Context> => ({
  next: (context) => {
    const wait = waits.next(context);
    const endsAt = now() + wait.duration;
    return {
      get duration() {
        return now() < endsAt ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      },
      next: steadily(wait, now).next,
    };
  },
});
