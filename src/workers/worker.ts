import { setMaxListeners } from "node:events";
import type { JobQueued } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { JobRef, StoredEvent } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import type { LeaseProbe } from "./lease.ts";
import { type Hindrance, type SayStandstill, type Standstill, watchStandstill } from "./standstill.ts";
import type { WorkQueue } from "./work-queue.ts";

export type WorkerSettings = {
  /** Names this worker in the log; another process never has the same name. */
  readonly name: string;
  /** Turns at once. */
  readonly concurrency: number;
  /** How often the queue is told that a turn is still worked on; well inside its patience. */
  readonly keepEveryMs: number;
  /** How many turns may be taken now, or what forbids it; others wait, as taking one up would only use up an attempt. */
  readonly mayTake: () => Promise<number | Hindrance>;
  /** A turn that broke off is handed out again after this, the first time; later ones wait longer. */
  readonly firstDelayMs: number;
};

/** Does one turn; the signals are those of `stop`. */
export type TurnRunner = (delivery: Delivery<JobQueued>, stopping: AbortSignal, giveUp: AbortSignal) => Promise<void>;

export type Worker = {
  start(): void;
  /** Ends what is on its way and hands back the rest; what is not recorded by then is given up after `withinMs`. */
  stop(withinMs: number): Promise<void>;
  /** Looks for work at once: what kept it from taking some may be over. */
  wake(): void;
  /** Turns that it is doing now. */
  busy(): number;
  /** Turns at once, at most. */
  readonly slots: number;
  /** Why it has taken no work for some time, though it has room for some; null where it does. */
  standstill(): Standstill | null;
};

export type ReportOfWorker = {
  readonly turnBrokeOff: (failure: unknown, turn: StoredEvent) => void;
  readonly standsStill: SayStandstill;
};

/** Without an arrival, the queue is asked again after this: a hint can be lost. */
const askEveryMs = 1000;
const otherTurnAfterMs = 500;
const longestDelayMs = 15_000;

/** Not in a hot loop, as what broke it off once may do so each time; and never later than after the death of a worker. */
const delayAfter = (times: number, firstMs: number): number => Math.min(firstMs * 3 ** (times - 1), longestDelayMs);

/** Takes turns from the queue whenever it has free slots, and no more than those. */
export function createWorker(
  queue: WorkQueue,
  probe: LeaseProbe,
  runTurn: TurnRunner,
  settings: WorkerSettings,
  report: ReportOfWorker,
): Worker {
  /** By job; a turn that is delivered again while it is done is kept alive through its newest delivery. */
  const turns = new Map<string, { delivery: Delivery<JobQueued>; done: Promise<void> }>();
  const stopping = new AbortController();
  const giveUp = new AbortController();
  // Every outcome that waits for a log that is away listens to them: many are no leak.
  setMaxListeners(0, stopping.signal, giveUp.signal);
  let wake: () => void = () => {};
  let loop: Promise<void> | null = null;
  let stopAnswering: () => void = () => {};
  const standstill = watchStandstill(report.standsStill);

  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}.${jobId}`;

  const begin = (delivery: Delivery<JobQueued>): void => {
    const key = keyOf(delivery.entry);
    const running = turns.get(key);
    if (running !== undefined) {
      // Another turn of the same job, after a quick pause and resume, say, waits until this one has come to its end.
      if (running.delivery.entry.sequence === delivery.entry.sequence) running.delivery = delivery;
      else delivery.giveBack(otherTurnAfterMs);
      return;
    }
    const keeping = setInterval(() => turns.get(key)?.delivery.keep(), settings.keepEveryMs);
    const done = runTurn(delegate(key, delivery), stopping.signal, giveUp.signal)
      // The queue hands it out again; by then the log says how far it came.
      .catch((failure: unknown) => {
        const newest = turns.get(key)?.delivery ?? delivery;
        newest.giveBack(delayAfter(newest.times, settings.firstDelayMs));
        report.turnBrokeOff(failure, delivery.entry);
      })
      .finally(() => {
        clearInterval(keeping);
        turns.delete(key);
        wake();
      });
    turns.set(key, { delivery, done });
  };

  /** Settles the newest delivery of the turn, whichever it began with. */
  const delegate = (key: string, first: Delivery<JobQueued>): Delivery<JobQueued> => {
    const newest = (): Delivery<JobQueued> => turns.get(key)?.delivery ?? first;
    return {
      entry: first.entry,
      times: first.times,
      acknowledge: () => newest().acknowledge(),
      keep: () => newest().keep(),
      giveBack: (delayMs) => newest().giveBack(delayMs),
    };
  };

  const takeSome = async (): Promise<boolean> => {
    standstill.tries();
    try {
      const may = await settings.mayTake();
      if (typeof may === "string") {
        standstill.isHindered(may);
        return false;
      }
      const limit = Math.min(settings.concurrency - turns.size, may);
      const deliveries = limit > 0 ? await queue.take(limit, turns.size) : [];
      standstill.isFree();
      for (const delivery of deliveries) {
        if (stopping.signal.aborted) delivery.giveBack(0);
        else begin(delivery);
      }
      return deliveries.length > 0;
    } catch (failure) {
      standstill.isHindered(isOutage(failure) ? "log-away" : "queue-failed", failure);
      return false;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (turns.size < settings.concurrency && (await takeSome())) continue;
      const timer = setTimeout(() => wake(), askEveryMs);
      await woken;
      clearTimeout(timer);
    }
  };

  return {
    start: () => {
      if (loop !== null) return;
      stopAnswering = probe.answerFor(settings.name, (job) => turns.has(keyOf(job)));
      const stopListening = queue.onArrival(() => wake());
      loop = run().finally(stopListening);
    },
    stop: async (withinMs) => {
      stopping.abort();
      wake();
      const deadline = setTimeout(() => giveUp.abort(), withinMs);
      await loop;
      standstill.stop();
      await Promise.all([...turns.values()].map(({ done }) => done));
      clearTimeout(deadline);
      stopAnswering();
    },
    standstill: standstill.current,
    wake: () => wake(),
    busy: () => turns.size,
    slots: settings.concurrency,
  };
}
