import type { JobType } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";

/** The reasons why a worker takes no work. The last one is an unexpected error, which may be a defect. */
export type Hindrance = "mail-server-away" | "log-away" | "queue-failed";

/** A worker has room for work and has taken none for more than a moment. */
export type Standstill = {
  readonly reason: Hindrance;
  /** The time of the first failed try. */
  readonly since: Instant;
  readonly forMs: number;
  /** The error of the last try; null where the gate holds the worker back, or the worker still waits for an answer. */
  readonly failure: unknown;
};

/** Watches the workers of one kind of job for a standstill. */
export type StandstillOfKind = Standstill & { readonly type: JobType };

export type SayStandstill = (standstill: Standstill, hasEnded: boolean) => void;

export type StandstillWatch = {
  /** The worker is about to ask for work. A request that never returns counts as a failure. */
  tries(): void;
  /** The try failed, for this reason. */
  isHindered(reason: Hindrance, failure?: unknown): void;
  /** The worker could take work, whether or not there was any. */
  isFree(): void;
  /** Null while the worker takes work, and in the first seconds of a standstill. */
  current(): Standstill | null;
  stop(): void;
};

/** An election, or the restart of a server, is over by then. */
const sayAfterMs = 5000;
const sayAgainAfterMs = 60_000;
/** The process itself was stopped, and not its servers: they get this long to answer requests in progress. */
const lateMs = 1000;

type Episode = { readonly begunAt: number; readonly since: Instant; reason: Hindrance; failure: unknown };

/** Logs a lasting standstill once, again each minute, and once more when it is over. */
export function watchStandstill(say: SayStandstill): StandstillWatch {
  let episode: Episode | null = null;
  let isSaid = false;
  let timer: NodeJS.Timeout | undefined;

  const seen = ({ begunAt, ...known }: Episode): Standstill => ({ ...known, forMs: performance.now() - begunAt });
  const sayIn = (ms: number): void => {
    const dueAt = performance.now() + ms;
    timer = setTimeout(() => {
      if (episode === null) return;
      if (performance.now() - dueAt > lateMs) return sayIn(sayAfterMs);
      isSaid = true;
      sayIn(sayAgainAfterMs);
      say(seen(episode), false);
    }, ms);
  };
  const tries = (): void => {
    if (episode !== null) return;
    const since = new Date().toISOString();
    episode = { begunAt: performance.now(), since, reason: "log-away", failure: null };
    sayIn(sayAfterMs);
  };
  const end = (): Episode | null => {
    clearTimeout(timer);
    const ended = isSaid ? episode : null;
    episode = null;
    isSaid = false;
    return ended;
  };

  return {
    tries,
    isHindered: (reason, failure = null) => {
      tries();
      if (episode !== null) Object.assign(episode, { reason, failure });
    },
    isFree: () => {
      const ended = end();
      if (ended !== null) say(seen(ended), true);
    },
    current: () => (isSaid && episode !== null ? seen(episode) : null),
    stop: end,
  };
}
