import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";

export type VirtualClock = {
  /** Milliseconds since 1970; they only move between two steps of the simulation. */
  nowMs(): number;
  /** False while something else than the simulation runs, to which the real timers are left. */
  isInProcess(): boolean;
  /** Calls back when the time has come, unless the function that it answers is called before. */
  after(delayMs: number, callback: () => void): () => void;
  random(): number;
};

type Callback = (...args: unknown[]) => void;

/**
 * Puts a virtual clock, and chance that can be repeated, in the place of those of the process: everything that waits or
 * looks at a clock between this call and the one of the function that it answers goes by the virtual one. Node's own
 * mock timers do not know whose a timer is, and here one process of many is to be frozen, or to die with its timers.
 */
export function installVirtualTime(clock: VirtualClock): () => void {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, Date, random: Math.random };
  const realPause = timersPromises.setTimeout;
  const once = (callback: Callback, delayMs = 0, ...args: unknown[]) =>
    clock.isInProcess() ? clock.after(delayMs, () => callback(...args)) : real.setTimeout(callback, delayMs, ...args);
  const again = (callback: Callback, everyMs: number, ...args: unknown[]) =>
    clock.isInProcess() ? repeat(clock, callback, everyMs) : real.setInterval(callback, everyMs, ...args);
  const cancel = (timer: NodeJS.Timeout | (() => void) | undefined): void => {
    if (typeof timer === "function") timer();
    else real.clearTimeout(timer);
  };
  Object.assign(globalThis, {
    setTimeout: once,
    clearTimeout: cancel,
    setInterval: again,
    clearInterval: cancel,
    Date: dateOf(clock, real.Date),
  });
  Math.random = () => (clock.isInProcess() ? clock.random() : real.random());
  Object.defineProperty(performance, "now", { configurable: true, value: () => clock.nowMs() });
  timersPromises.setTimeout = pauseBy(clock, realPause) as typeof realPause;
  syncBuiltinESMExports();
  return () => {
    const { random, ...globals } = real;
    Object.assign(globalThis, globals);
    Math.random = random;
    Reflect.deleteProperty(performance, "now");
    timersPromises.setTimeout = realPause;
    syncBuiltinESMExports();
  };
}

function repeat(clock: VirtualClock, callback: Callback, everyMs: number): () => void {
  let stop: () => void = () => {};
  const again = (): void => {
    stop = clock.after(everyMs, () => {
      again();
      callback();
    });
  };
  again();
  return () => stop();
}

const pauseBy =
  (clock: VirtualClock, realPause: typeof timersPromises.setTimeout) =>
  (delayMs = 0, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}): Promise<unknown> => {
    if (!clock.isInProcess()) return realPause(delayMs, value, signal === undefined ? {} : { signal });
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        stop();
        reject(new DOMException("The wait was ended", "AbortError"));
      };
      const stop = clock.after(delayMs, () => {
        signal?.removeEventListener("abort", aborted);
        resolve(value);
      });
      if (signal?.aborted) aborted();
      else signal?.addEventListener("abort", aborted, { once: true });
    });
  };

const dateOf = (clock: VirtualClock, RealDate: DateConstructor): DateConstructor =>
  new Proxy(RealDate, {
    construct: (target, args) => (args.length === 0 ? new target(clock.nowMs()) : Reflect.construct(target, args)),
    get: (target, name) => (name === "now" ? clock.nowMs : Reflect.get(target, name)),
  });
