import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../../domain/message.ts";
import type { JobRef } from "../event-log.ts";
import type { Ending } from "./active-process.ts";
import type { Serially } from "./serially.ts";

/** What a listener keeps in memory while it is open, and tends. */
export type Tended = {
  readonly ref: JobRef;
  /** When this process looks at it again; null for not at all. */
  looksAt: Instant | null;
};

export type LookAgainPorts<Thing extends Tended> = {
  readonly until: typeof until;
  readonly serially: Serially;
  readonly isOpen: (thing: Thing) => boolean;
  readonly tend: (thing: Thing, ending: Ending) => Promise<void>;
  /** Takes failures to tend it when its time has come; it is tried again. */
  readonly report: (failure: unknown) => void;
};

const tryAgainMs = 500;
/** The clock may be set meanwhile. */
const longestWaitMs = 60_000;
const setBackMs = 5_000;

/**
 * Tends a thing once its time has come, unless the thing has ended by then, or has another time. After a crash the next process
 * takes it up: until then it is unfinished.
 */
export function createLookAgain<Thing extends Tended>(ports: LookAgainPorts<Thing>) {
  const look = async (thing: Thing, at: Instant, ending: Ending): Promise<void> => {
    const isAwaited = (): boolean => ports.isOpen(thing) && thing.looksAt === at;
    await ports.until(at, ending.stopping, isAwaited);
    if (thing.looksAt === at && !ports.isOpen(thing)) thing.looksAt = null;
    while (!ending.stopping.aborted && isAwaited()) {
      try {
        return await ports.serially(thing.ref, async () => {
          thing.looksAt = null;
          await ports.tend(thing, ending);
        });
      } catch (failure) {
        ports.report(failure);
        thing.looksAt = at;
        await pause(tryAgainMs, undefined, { signal: ending.stopping }).catch(() => {});
      }
    }
  };
  return (thing: Thing, at: Instant, ending: Ending): void => {
    if (thing.looksAt === at) return;
    thing.looksAt = at;
    void look(thing, at, ending);
  };
}

/**
 * Resolves once the clock shows this time, or the signal aborts; within a minute also where the clock was set back, and the
 * time may be another one by now, and where it is not awaited any more: it may be years ahead, and whatever waits for it stays
 * in memory.
 */
export async function until(at: Instant, signal: AbortSignal, isAwaited = (): boolean => true): Promise<void> {
  for (;;) {
    const [clock, steady] = [Date.now(), performance.now()];
    const leftMs = Date.parse(at) - clock;
    if (leftMs <= 0 || signal.aborted || !isAwaited()) return;
    await pause(Math.min(leftMs, longestWaitMs), undefined, { signal }).catch(() => {});
    if (Date.now() - clock < performance.now() - steady - setBackMs) return;
  }
}
