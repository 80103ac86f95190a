import { setMaxListeners } from "node:events";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import type { QueuedTurn } from "../turns/turns.ts";
import type { TurnDelivery, WorkQueue } from "../turns/work-queue.ts";
import type { Helper } from "./helper.ts";
import type { LeaseProbe, WorkOfWorker } from "./lease.ts";
import { slotsOf, sumOf, turnsThatFit } from "./slots.ts";
import { type Hindrance, type SayStandstill, type Standstill, watchStandstill } from "./standstill.ts";

export type WorkerSettings = {
  /** The name of this worker in the log; no other worker, of this process or another, has the same name. */
  readonly name: string;
  /** How many slots there are for turns: see `slotsOf`. */
  readonly concurrency: number;
  /** How many recipients one job can have on their way at a time, at most. */
  readonly connections: number;
  /** How many turns the worker may take now, or why none; others wait, as taking one up would only use up an attempt. */
  readonly mayTake: () => Promise<number | Hindrance>;
  /** A turn that broke off is handed out again after this, the first time; later repetitions wait longer. */
  readonly firstDelayMs: number;
  /** The help that the worker gives to others; null for a kind of job whose turns are not shared. */
  readonly helper: Pick<Helper, "isHelping" | "helping" | "stop"> | null;
};

/** Does one turn; the signals are those of `stop`. */
export type TurnRunner = (delivery: TurnDelivery, stopping: AbortSignal, giveUp: AbortSignal) => Promise<void>;

export type Worker = {
  start(): void;
  /** Ends sends in progress and hands back the other turns; gives up after `withinMs` on outcomes not yet recorded. */
  stop(withinMs: number): Promise<void>;
  /** Looks for work at once: whatever held back the worker may be over. */
  lookForWork(): void;
  /** Slots that turns in progress take. */
  busy(): number;
  /** How many slots there are. */
  readonly slots: number;
  /** Jobs of other workers that it helps with. */
  helping(): number;
  /** Whether the worker has a turn of the job. */
  holds(job: JobRef): boolean;
  /** Whether it waits for another turn, and none is there. */
  hasRoom(): boolean;
  /** Why the worker has taken no work for some time, though it has room; null where it does take work. */
  standstill(): Standstill | null;
};

export type ReportOfWorker = {
  readonly turnBrokeOff: (failure: unknown, turn: QueuedTurn) => void;
  readonly helpBrokeOff: (failure: unknown, job: JobRef) => void;
  readonly standsStill: SayStandstill;
};

/**
 * How long a worker may be silent before the queue hands its job to another one. The queue notices a killed worker after
 * this time; a worker that is stopped for less loses nothing.
 */
export const queuePatienceMs = 15_000;

/** Without an arrival, the worker asks the queue again after this: what held it back may be over. */
const askEveryMs = 1000;
const otherTurnAfterMs = 500;
const longestDelayMs = 15_000;

/** No hot loop, as the same failure may repeat each time; and never later than a dead worker's turn would come back. */
const delayAfter = (times: number, firstMs: number): number => Math.min(firstMs * 3 ** (times - 1), longestDelayMs);

/** The scheduler may have put a turn again that it believed to be lost, after another decision. */
const isSameTurn = (one: QueuedTurn, other: QueuedTurn): boolean =>
  one.run === other.run && one.attempt === other.attempt && one.opening === other.opening;

/** Takes turns from the queue whenever a slot is free. */
export function createWorker(
  queue: WorkQueue,
  probe: LeaseProbe,
  runTurn: TurnRunner,
  settings: WorkerSettings,
  report: ReportOfWorker,
): Worker {
  /** By job; a turn that is delivered again while it is in progress is kept alive through its newest delivery. */
  const turns = new Map<string, { delivery: TurnDelivery; readonly slots: number; readonly done: Promise<void> }>();
  const stopping = new AbortController();
  const giveUp = new AbortController();
  // Every outcome that waits for the log while it is away listens to these signals: many listeners are no leak.
  setMaxListeners(0, stopping.signal, giveUp.signal);
  let endWait: () => void = () => {};
  let loop: Promise<void> | null = null;
  let stopAnswering: () => void = () => {};
  let isWaiting = false;
  const standstill = watchStandstill(report.standsStill);

  const inHand = (): readonly number[] => [...turns.values()].map(({ slots }) => slots);
  const placesTaken = (): number => sumOf(inHand());
  const isFull = (): boolean => placesTaken() >= settings.concurrency;
  const isHelping = (about: WorkOfWorker): boolean => settings.helper?.isHelping(about) ?? false;
  const isAt = (about: WorkOfWorker): boolean =>
    isHelping(about) || (about.help === undefined && turns.has(keyOf(about)));
  const begin = (delivery: TurnDelivery): void => {
    const key = keyOf(delivery.turn);
    // This worker is at the job already, under the lease of another.
    if (isHelping(delivery.turn)) {
      delivery.giveBack(otherTurnAfterMs);
      return;
    }
    const running = turns.get(key);
    if (running !== undefined) {
      // Another turn of the same job, for example after a quick pause and resume, waits until this turn has ended.
      if (isSameTurn(running.delivery.turn, delivery.turn)) running.delivery = delivery;
      else delivery.giveBack(otherTurnAfterMs);
      return;
    }
    const keeping = setInterval(() => turns.get(key)?.delivery.keep(), queuePatienceMs / 3);
    const done = runTurn(delegate(key, delivery), stopping.signal, giveUp.signal)
      // The queue hands the turn out again; the log then holds the progress.
      .catch((failure: unknown) => {
        const newest = turns.get(key)?.delivery ?? delivery;
        newest.giveBack(delayAfter(newest.times, settings.firstDelayMs));
        report.turnBrokeOff(failure, delivery.turn);
      })
      .finally(() => {
        clearInterval(keeping);
        turns.delete(key);
        endWait();
      });
    turns.set(key, { delivery, slots: slotsOf(delivery.turn, settings.connections), done });
  };

  /** Settles the newest delivery of the turn, whichever delivery began it. */
  const delegate = (key: string, first: TurnDelivery): TurnDelivery => {
    const newest = (): TurnDelivery => turns.get(key)?.delivery ?? first;
    return {
      ...first,
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
      const limit = Math.min(turnsThatFit(settings.concurrency, inHand()), may);
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
        endWait = resolve;
      });
      if (!isFull() && (await takeSome())) continue;
      const timer = setTimeout(() => endWait(), askEveryMs);
      isWaiting = true;
      await woken;
      isWaiting = false;
      clearTimeout(timer);
    }
  };

  return {
    start: () => {
      if (loop !== null) return;
      stopAnswering = probe.answerFor(settings.name, isAt);
      const stopListening = queue.onArrival(() => endWait());
      loop = run().finally(stopListening);
    },
    stop: async (withinMs) => {
      stopping.abort();
      endWait();
      const deadline = setTimeout(() => giveUp.abort(), withinMs);
      const helped = settings.helper?.stop(withinMs);
      await loop;
      standstill.stop();
      await helped;
      await Promise.all([...turns.values()].map(({ done }) => done));
      clearTimeout(deadline);
      stopAnswering();
    },
    standstill: standstill.current,
    lookForWork: () => endWait(),
    busy: placesTaken,
    helping: () => settings.helper?.helping() ?? 0,
    holds: (job) => turns.has(keyOf(job)),
    hasRoom: () => isWaiting && !isFull(),
    slots: settings.concurrency,
  };
}
