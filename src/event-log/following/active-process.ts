import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { type HeldCheckpoint, holdCheckpoint } from "./hold-checkpoint.ts";

/** Aborted when the active process should come to an end, and when it is to leave at once what it has not finished. */
export type Ending = { readonly stopping: AbortSignal; readonly givenUp: AbortSignal };

export type Listening = {
  start(): void;
  /** Reads no more, and waits up to `graceMs` for what is in work; the next process does the rest. */
  stop(graceMs?: number): Promise<void>;
};

export type ActiveProcess = {
  /** Of the checkpoint: of all processes one holds it and is active, and the others stand by. */
  readonly name: string;
  /** Runs while this process is active. It may end, or fail, and then stands by again. */
  readonly act: (held: HeldCheckpoint, ending: Ending) => Promise<void>;
  /** How long this process leaves the checkpoint to others after a failure. */
  readonly restMsAfter: (failure: unknown) => number;
  readonly report: (failure: unknown) => void;
};

/** Stands by, acts while it holds the checkpoint, and releases it. */
export function createActiveProcess(
  checkpoints: CheckpointStore,
  { name, act, restMsAfter, report }: ActiveProcess,
): Listening {
  const stopping = new AbortController();
  const givenUp = new AbortController();
  const holder = randomUUID();
  let loop: Promise<void> | null = null;

  const takePart = async (): Promise<void> => {
    const held = await holdCheckpoint(checkpoints, name, holder, stopping.signal);
    if (held === null) return;
    const ending = {
      stopping: AbortSignal.any([stopping.signal, held.lost]),
      givenUp: AbortSignal.any([givenUp.signal, held.lost]),
    };
    // Each event in work, or each call, may wait for them.
    setMaxListeners(0, ending.stopping, ending.givenUp);
    try {
      await act(held, ending);
    } finally {
      await held.release();
    }
    if (held.failure() !== null) throw held.failure();
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await takePart().catch(async (failure: unknown) => {
        if (stopping.signal.aborted) return;
        report(failure);
        await pause(restMsAfter(failure), undefined, { signal: stopping.signal }).catch(() => {});
      });
    }
  };

  return {
    start: () => {
      loop ??= run();
    },
    stop: async (graceMs = 2000) => {
      stopping.abort();
      const timer = setTimeout(() => givenUp.abort(), graceMs);
      await loop;
      clearTimeout(timer);
    },
  };
}
