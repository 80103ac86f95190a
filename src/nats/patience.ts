import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

/** Repeats a step for as long as a server does not answer. A repeated step must be idempotent. */
export type Patience = <Result>(step: () => Promise<Result>) => Promise<Result>;

/** A report on a wait: how long it has lasted, and why the last try failed; null during the first try. */
export type Wait = { readonly waitedMs: number; readonly failure: unknown };

export type PatienceSettings = {
  /** After this time the last failure is thrown; Infinity means no limit. */
  readonly forMs: number;
  /** Ends every wait at once. */
  readonly signal: AbortSignal;
  /** Whether waiting can help. */
  readonly isPassing: (failure: unknown) => boolean;
  /** Called about a wait after `sayAfterMs` and every five seconds from then on. */
  readonly waits: (wait: Wait) => void;
  readonly sayAfterMs: number;
};

/** The signal ended a wait: this is not a fault. */
export class WaitInterrupted extends Error {
  override readonly name = "WaitInterrupted";
}

/** A signal that never aborts, for any number of simultaneous waits. */
export const never = new AbortController().signal;
setMaxListeners(0, never);

const firstDelayMs = 100;
const longestDelayMs = 2000;
const sayEveryMs = 5000;

export function createPatience(settings: PatienceSettings): Patience {
  const { forMs, signal, isPassing } = settings;
  return async (step) => {
    const begunAt = performance.now();
    const waitedMs = (): number => performance.now() - begunAt;
    let failure: unknown = null;
    const voice = speakUp(settings, () => ({ waitedMs: waitedMs(), failure }));
    try {
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
        try {
          return await untilInterrupted(signal.aborted ? null : step(), signal);
        } catch (cause) {
          if (signal.aborted || !isPassing(cause) || waitedMs() >= forMs) throw cause;
          failure = cause;
        }
        await pause(withJitter(delayMs), undefined, { signal }).catch(() => {});
      }
    } finally {
      voice.stop();
    }
  };
}

/** A random share, so that many processes that were started at the same moment do not retry at the same moment. */
const withJitter = (delayMs: number): number => delayMs * (0.5 + Math.random());

function speakUp({ waits, sayAfterMs }: PatienceSettings, wait: () => Wait) {
  let timer = setTimeout(say, sayAfterMs);
  function say(): void {
    timer = setTimeout(say, sayEveryMs);
    waits(wait());
  }
  return { stop: () => clearTimeout(timer) };
}

/**
 * The result of the step, or WaitInterrupted the moment that the signal aborts. An abandoned step ends at its own
 * deadline, and its result is dropped; null is a step that was not started, because the signal had already aborted.
 */
export async function untilInterrupted<Result>(step: Promise<Result> | null, signal: AbortSignal): Promise<Result> {
  let give: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(new WaitInterrupted("The wait was interrupted."));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
  try {
    return await (step === null ? aborted : Promise.race([step, aborted]));
  } finally {
    signal.removeEventListener("abort", give);
  }
}
