import type { JobType } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";

/** What keeps a worker from taking work. The last one is an unexpected error, which may be a defect. */
export type Hindrance = "mail-server-away" | "log-away" | "queue-failed";

/** A worker that takes no work, though it has room for some, and not for a moment only. */
export type Standstill = {
  readonly reason: Hindrance;
  /** Of the first try that came to nothing. */
  readonly since: Instant;
  readonly forMs: number;
  /** What the last try threw; null where the worker holds back by itself, or waits for an answer all the time. */
  readonly failure: unknown;
};

/** The standstill of the workers of one kind of job. */
export type StandstillOfKind = Standstill & { readonly type: JobType };

export type SayStandstill = (standstill: Standstill, hasEnded: boolean) => void;

export type StandstillWatch = {
  /** The worker is about to ask for work. What never comes back is no better than what fails. */
  tries(): void;
  /** The try came to nothing, for this reason. */
  isHindered(reason: Hindrance, failure?: unknown): void;
  /** It could take work; whether there was any is another thing. */
  isFree(): void;
  /** Null while it takes work, and in the first seconds. */
  current(): Standstill | null;
  stop(): void;
};

/** An election, and a server that starts anew, are over by then. */
const sayAfterMs = 5000;
const sayAgainAfterMs = 60_000;
/** The process itself stood still, and not its servers: they get the time to answer what is on its way. */
const lateMs = 1000;

type Episode = { readonly begunAt: number; readonly since: Instant; reason: Hindrance; failure: unknown };

/** Says once when a standstill lasts, again each minute, and once more when it is over. */
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
