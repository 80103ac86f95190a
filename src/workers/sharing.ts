import type { JobType } from "../domain/job/events.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import { type HelpExchange, noHelpWanted } from "./help.ts";
import type { Lease, LeaseProbe } from "./lease.ts";
import { createRate } from "./rate.ts";
import { type SharedTurn, shareTurn } from "./shared-turn.ts";
import type { HeldTurn } from "./turn.ts";

/** When a worker lets others help, and with how much at a time. */
export type SharingPace = {
  /** A worker says that it wants help once in this time, at most. */
  readonly everyMs: number;
  /** It wants none for what it will serve within this time by itself. */
  readonly aheadMs: number;
  /** About how long a helper is busy with a group: at the end, all others wait for the last one. */
  readonly groupMs: number;
};

export const usualPace: SharingPace = { everyMs: 300, aheadMs: 500, groupMs: 400 };

export type Sharing = {
  start(): void;
  stop(): void;
  /** Null for a turn that is not worth sharing; `end` takes it from the list of those that get help. */
  share(held: HeldTurn, lease: Lease, signals: Signals): SharedTurn | null;
};

type Signals = { readonly stopping: AbortSignal; readonly giveUp: AbortSignal };

type Ports = { readonly exchange: HelpExchange; readonly probe: LeaseProbe };

type Settings = {
  readonly name: string;
  readonly type: JobType;
  /** How many recipients the worker serves at a time. No group is smaller. */
  readonly connections: number;
  readonly pace: SharingPace;
};

/**
 * Shares the turns of one worker with idle workers. The holder of a lease passes on recipients that it has not claimed, and
 * claims them no more. The helper claims them in the log under the same lease, which it watches as the holder does, and
 * records what becomes of them. The holder alone decides about the job, from the ledger that the log has then.
 *
 * A turn ends after its helpers have ended, or were found dead, frozen or cut off. So a worker that takes the job up and
 * hears that the former holder lives and is done knows the same of its helpers. Where the holder died, it asks them:
 * former-workers.ts.
 */
export function createSharing({ exchange, probe }: Ports, { name, type, connections, pace }: Settings): Sharing {
  const turns = new Map<string, { readonly job: JobRef; readonly turn: SharedTurn }>();
  const rate = createRate();
  let stopAnswering: () => void = () => {};
  let timer: NodeJS.Timeout | null = null;

  const announce = (): void => {
    const open = [...turns.values()].map(({ job, turn }) => ({ job, left: turn.left() }));
    const sum = open.reduce((before, { left }) => before + left, 0);
    const most = open.reduce((one, other) => (other.left > one.left ? other : one));
    if (sum <= Math.max(connections, rate.within(pace.aheadMs))) return;
    exchange.announce(type, { tenant: most.job.tenant, jobId: most.job.jobId, worker: name });
  };
  const add = (job: JobRef, turn: SharedTurn): void => {
    turns.set(keyOf(job), { job, turn });
    if (timer !== null) return;
    rate.begin();
    timer = setInterval(announce, pace.everyMs);
  };
  const remove = (job: JobRef): void => {
    turns.delete(keyOf(job));
    if (turns.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    start: () => {
      stopAnswering = exchange.answerFor(
        name,
        (request) => turns.get(keyOf(request))?.turn.answer(request) ?? noHelpWanted,
      );
    },
    stop: () => stopAnswering(),
    share: (held, lease, signals) => {
      if (held.settings.total <= 2 * connections) return null;
      const turn = shareTurn(held, lease, {
        ...signals,
        probe,
        leastOfGroup: connections,
        mostOfGroup: () => rate.within(pace.groupMs),
        claimed: rate.add,
      });
      add(held.job, turn);
      return { ...turn, end: () => turn.end().finally(() => remove(held.job)) };
    },
  };
}
