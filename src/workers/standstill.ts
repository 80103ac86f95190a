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

/** An election, or the restart of a server, is over by then. */
const sayAfterMs = 5000;
const sayAgainAfterMs = 60_000;
/** The process itself was stopped, and not its servers: they get this long to answer requests in progress. */
const lateMs = 1000;

type Episode = {
  readonly begunAt: number;
  readonly since: Instant;
  reason: Hindrance;
  failure: unknown;
  isSaid: boolean;
};

/** Logs a lasting standstill once, again each minute, and once more when it is over. */
export function watchStandstill(say: SayStandstill) {
  let episode: Episode | null = null;
  let timer: NodeJS.Timeout | undefined;

  const seen = ({ begunAt, isSaid: _, ...known }: Episode): Standstill => {
    return { ...known, forMs: performance.now() - begunAt };
  };
  const sayIn = (ms: number): void => {
    const dueAt = performance.now() + ms;
    timer = setTimeout(() => {
      if (episode === null) return;
      if (performance.now() - dueAt > lateMs) return sayIn(sayAfterMs);
      episode.isSaid = true;
      sayIn(sayAgainAfterMs);
      say(seen(episode), false);
    }, ms);
  };
  /** The worker is about to ask for work. A request that never returns counts as a failure. */
  const tries = (): void => {
    if (episode !== null) return;
    const since = new Date().toISOString();
    episode = { begunAt: performance.now(), since, reason: "log-away", failure: null, isSaid: false };
    sayIn(sayAfterMs);
  };
  const stop = (): void => {
    clearTimeout(timer);
    episode = null;
  };

  return {
    tries,
    /** The try failed, for this reason. */
    isHindered: (reason: Hindrance, failure: unknown = null): void => {
      tries();
      if (episode !== null) Object.assign(episode, { reason, failure });
    },
    /** The worker could take work, whether or not there was any. */
    isFree: (): void => {
      const ended = episode;
      stop();
      if (ended?.isSaid) say(seen(ended), true);
    },
    /** Null while the worker takes work, and in the first seconds of a standstill. */
    current: (): Standstill | null => (episode?.isSaid ? seen(episode) : null),
    stop,
  };
}
