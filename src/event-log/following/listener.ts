import { setTimeout as pause } from "node:timers/promises";
import type { EventLog, StoredEvent, WaybillEvent } from "../event-log.ts";
import { LogLostItsEnd, UndecodableEvent } from "../log-failures.ts";
import { isOutage } from "../persistently.ts";
import { createActiveProcess, type Ending, type Listening } from "./active-process.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import type { HeldCheckpoint } from "./hold-checkpoint.ts";
import { believedAfterMs, isOfLog, settledState } from "./settled-log.ts";

/** Something that runs in the process whose listener is active. */
export type Companion = { start(): void; stop(): Promise<void> };

/** What acts on the decisions in the log, and on nothing else: facts do not reach it. */
export type Listener = {
  /** Of its checkpoint. Of all processes with a listener of this name one is active, and the others stand by. */
  readonly name: string;
  /** After which entry it begins in a log that it has no checkpoint of. */
  readonly beginAfter: (lastSequence: number) => number;
  /**
   * Called in the order of the log, and again after a failure or a crash: acting twice must do no harm. Null where there
   * is nothing to do.
   */
  readonly act: (event: StoredEvent<WaybillEvent>, ending: Ending) => Promise<void> | null;
  /** How many events may be in work before the listener reads on. */
  readonly atOnce: number;
  readonly tryAgainMs: number;
  /** How long the listener rests in a steady flow of events, see FollowOptions; `unhurriedMs` where it does not say. */
  readonly restMs?: number;
  /** For a listener whose work on an event can go on after it was done with the event. */
  readonly unfinished?: {
    /** Names what is not finished, to be stored with the checkpoint. */
    readonly name: () => readonly string[];
    /**
     * Called when this process becomes active, before the first event, with the names that the checkpoint has. May leave out
     * the rest once the process is to stop.
     */
    readonly takeUp: (names: readonly string[], ending: Ending) => Promise<void>;
  };
  /** Called when this process becomes active. */
  readonly companions?: () => readonly Companion[];
};

export type ListenerPorts = {
  /** Shared with the other listeners of the process. */
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly report: (failure: unknown) => void;
};

const maxEvents = 500;
/** For what follows from a decision and can wait. */
const unhurriedMs = 100;
/** Long enough for another process to take over, perhaps one of a newer release. */
const standAgainAfterMs = 3000;
/** NATS is away from all of them alike: the first that it answers goes on. */
const afterOutageMs = 500;

/**
 * Acts on every decision in the log at least once, across all processes: the checkpoint moves only past what is done. A
 * listener of a process that stood still and was replaced notices it before it acts on another event.
 */
export function createListening(ports: ListenerPorts, listener: Listener): Listening {
  return createActiveProcess(ports.checkpoints, {
    name: listener.name,
    act: async (held, ending) => {
      const companions = listener.companions?.() ?? [];
      for (const companion of companions) companion.start();
      try {
        await listen(ports, listener, held, ending);
      } finally {
        await Promise.all(companions.map((companion) => companion.stop()));
      }
    },
    restMsAfter: (failure) => (isOutage(failure) ? afterOutageMs : standAgainAfterMs),
    report: ports.report,
  });
}

async function listen(
  { log, report }: ListenerPorts,
  listener: Listener,
  held: HeldCheckpoint,
  ending: Ending,
): Promise<void> {
  const { restMs = unhurriedMs } = listener;
  const { createdAt, position, unfinished } = await beginning(log, listener, held, ending.stopping);
  await listener.unfinished?.takeUp(unfinished, ending);
  // Then perhaps not all of it was taken up: the next process is to find what this one has found.
  if (ending.stopping.aborted) return;
  const work = createWork(listener, ending, report);
  let read = position;
  held.track(() => ({
    sequence: work.doneUpTo() ?? read,
    logCreatedAt: createdAt,
    ...(listener.unfinished && { unfinished: listener.unfinished.name() }),
  }));
  try {
    while (!ending.stopping.aborted) {
      try {
        const wants = { wantsFacts: () => false, restMs: () => restMs };
        const from = { afterSequence: read, maxEvents, signal: ending.stopping, ...wants };
        for await (const batch of log.follow(from)) {
          for (const event of batch) {
            await work.room();
            if (ending.stopping.aborted || !held.isHeld()) return;
            read = event.sequence - 1;
            if ("event" in event) work.begin(event);
          }
          read = batch.at(-1)?.sequence ?? read;
        }
      } catch (failure) {
        if (failure instanceof LogLostItsEnd) {
          report(failure);
          read = failure.keptUpTo;
          continue;
        }
        // What no release can read is no decision for anyone. What a newer one can read waits for its processes.
        if (!(failure instanceof UndecodableEvent) || failure.isNewer) throw failure;
        report(failure);
        read = failure.sequence;
      }
    }
  } finally {
    await work.end();
  }
}

/** A checkpoint of another log, or of a part that this log has lost, is none. */
async function beginning(log: EventLog, { beginAfter }: Listener, { found }: HeldCheckpoint, signal: AbortSignal) {
  const seen = found ?? { sequence: 0, logCreatedAt: null };
  const state = await settledState(log, seen, believedAfterMs, signal);
  const { createdAt, lastSequence } = state;
  return found !== null && isOfLog(found, state)
    ? { createdAt, position: found.sequence, unfinished: found.unfinished ?? [] }
    : { createdAt, position: beginAfter(lastSequence), unfinished: [] };
}

function createWork(listener: Listener, ending: Ending, report: ListenerPorts["report"]) {
  /** Not in the order of the log where that has lost its end, and perhaps two of one place. */
  const undone = new Set<StoredEvent<WaybillEvent>>();
  const running = new Set<Promise<void>>();
  let changed = (): void => {};
  const left = new Promise<void>((resolve) => {
    if (ending.givenUp.aborted) resolve();
    else ending.givenUp.addEventListener("abort", () => resolve(), { once: true });
  });

  const attend = async (event: StoredEvent<WaybillEvent>, first: Promise<void>): Promise<void> => {
    for (let acting: Promise<void> | null = first; ; acting = listener.act(event, ending)) {
      try {
        await acting;
        if (!ending.givenUp.aborted) undone.delete(event);
        return;
      } catch (failure) {
        if (ending.stopping.aborted) return;
        report(failure);
        await pause(listener.tryAgainMs, undefined, { signal: ending.stopping }).catch(() => {});
        if (ending.stopping.aborted) return;
      }
    }
  };

  return {
    /** Resolves once another event may be begun, or none any more. */
    room: async (): Promise<void> => {
      while (running.size >= listener.atOnce && !ending.stopping.aborted) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    },
    begin: (event: StoredEvent<WaybillEvent>): void => {
      const first = listener.act(event, ending);
      if (first === null) return;
      undone.add(event);
      const attending: Promise<void> = attend(event, first).finally(() => {
        running.delete(attending);
        changed();
      });
      running.add(attending);
    },
    /** Null if nothing is undone. */
    doneUpTo: (): number | null =>
      undone.size === 0 ? null : Math.min(...[...undone].map(({ sequence }) => sequence)) - 1,
    /** Waits for what is in work, unless it is to be left. */
    end: async (): Promise<void> => {
      await Promise.race([Promise.all(running), left]);
    },
  };
}
