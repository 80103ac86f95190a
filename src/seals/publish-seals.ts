import { setTimeout as pause } from "node:timers/promises";
import { readSeal, type StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";
import { stopWithin, usualGraceMs } from "./stop-within.ts";

/** A place outside the log, out of reach of anyone who could rewrite the log. */
export interface SealDestination {
  readonly name: string;
  /** The sequence of the last seal that certainly arrived; 0 if none did. */
  position(): Promise<number>;
  /** Oldest first, at least one. Throws unless all of them certainly arrived. */
  publish(seals: readonly StoredSeal[]): Promise<void>;
}

export type SealPublisher = {
  start(): void;
  /** What a destination has not taken after `graceMs` is published again by the next process. */
  stop(graceMs?: number): Promise<void>;
};

const lookEveryMs = 2_000;
const longestDelayMs = 300_000;
const atOnce = 100;

/**
 * Publishes every seal to every destination at least once. Destinations are independent: one that is down delays neither
 * sealing nor the other destinations, and gets the missed seals once it is back.
 */
export function createSealPublisher(
  sealedLog: SealedLog,
  destinations: readonly SealDestination[],
  report: (failure: unknown, destination: string) => void,
  everyMs = lookEveryMs,
): SealPublisher {
  const stopping = new AbortController();
  let running: readonly Promise<void>[] = [];

  const run = async (destination: SealDestination): Promise<void> => {
    let delayMs = everyMs;
    while (!stopping.signal.aborted) {
      try {
        await publishNew(sealedLog, destination, stopping.signal);
        delayMs = everyMs;
      } catch (failure) {
        if (stopping.signal.aborted) return;
        report(failure, destination.name);
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  return {
    start: () => {
      running = destinations.map(run);
    },
    stop: async (graceMs = usualGraceMs) => {
      stopping.abort();
      await stopWithin(graceMs, Promise.all(running));
    },
  };
}

async function publishNew(sealedLog: SealedLog, destination: SealDestination, signal: AbortSignal): Promise<void> {
  const position = await destination.position();
  const last = await sealedLog.lastSeal();
  if (last === null || last.sequence <= position) return;
  for await (const messages of sealedLog.messages(position, "seals")) {
    const seals = messages.flatMap((message) => readSeal(message) ?? []);
    for (let begin = 0; begin < seals.length && !signal.aborted; begin += atOnce) {
      await destination.publish(seals.slice(begin, begin + atOnce));
    }
    if (signal.aborted) return;
  }
}
