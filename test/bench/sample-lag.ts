import { setTimeout as pause } from "node:timers/promises";
import type { Progress } from "./read-models.ts";

const everyMs = 20;

type Sample = { readonly at: number; readonly sequence: number };

export type LagSampler = {
  /** How many ms it took, for every look at the log, until all read models had come as far. */
  finish(): Promise<readonly number[]>;
};

/**
 * Looks at the log and at the read models, again and again, and says for each look at the log when its last event was
 * to be seen in all of them: up to the time between two looks too late, never too early.
 */
export function sampleLag({ lastSequence, projected, caughtUp }: Progress): LagSampler {
  const stopping = new AbortController();
  const stored: Sample[] = [];
  const visible: Sample[] = [];
  const look = async (samples: Sample[], ask: () => Promise<number>, isAsOfAnswer: boolean): Promise<void> => {
    for (; !stopping.signal.aborted; await pause(everyMs)) {
      const askedAt = performance.now();
      const sequence = await ask();
      samples.push({ at: isAsOfAnswer ? performance.now() : askedAt, sequence });
    }
  };
  const looking = Promise.all([look(stored, lastSequence, false), look(visible, projected, true)]);
  // The failure reaches the caller of `finish`.
  looking.catch(() => {});
  return {
    finish: async () => {
      await caughtUp();
      stopping.abort();
      await looking;
      visible.push({ at: performance.now(), sequence: await projected() });
      return toLags(stored, visible);
    },
  };
}

function toLags(stored: readonly Sample[], visible: readonly Sample[]): number[] {
  const lags: number[] = [];
  let next = 0;
  let before = 0;
  for (const { at, sequence } of stored) {
    // Where nothing came in there is nothing to wait for.
    if (sequence === before) continue;
    before = sequence;
    while (next < visible.length && (visible[next] as Sample).sequence < sequence) next += 1;
    const seen = visible[next];
    if (seen !== undefined) lags.push(Math.max(0, seen.at - at));
  }
  return lags;
}
