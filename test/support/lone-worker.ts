import type { EventLog } from "../../src/event-log/event-log.ts";
import { queuedAfter } from "../../src/turns/scheduler/scheduler.ts";
import type { TurnDelivery } from "../../src/turns/work-queue.ts";
import { createUnwritten } from "../../src/workers/bookkeeper.ts";
import type { JobWork } from "../../src/workers/job-work.ts";
import { runTurn, type TurnDependencies } from "../../src/workers/run-turn.ts";
import { job, settings } from "./examples.ts";

/** The first turn of the example job, delivered for the `times`th time; `said` is what the worker answers the queue. */
export async function deliverTurn(log: EventLog, times = 1, said: string[] = []): Promise<TurnDelivery> {
  const [created] = await log.readDecisions(job);
  if (created === undefined) throw new Error("The job was not created");
  return {
    turn: queuedAfter(created, { ...settings, run: 1, attempt: 1, opening: 0 }),
    times,
    putAtMs: 0,
    acknowledge: () => void said.push("acknowledged"),
    keep: () => {},
    giveBack: () => void said.push("given back"),
  };
}

/** Does a turn as the only worker there is: no other answers, helps or tells it to stop. */
export const runAlone = (
  delivery: TurnDelivery,
  log: EventLog,
  { type, prepare }: Pick<JobWork, "type" | "prepare">,
  some: Partial<TurnDependencies> = {},
): Promise<void> =>
  runTurn(delivery, {
    log,
    type,
    prepare,
    probe: { answerFor: () => () => {}, ask: async () => "silent" },
    sharing: null,
    worker: "worker-1",
    retrySchedule: { baseDelayMs: 1, factor: 1, jitter: 0, delaysMs: null },
    unwritten: createUnwritten(1),
    postpone: () => 1,
    stopping: new AbortController().signal,
    giveUp: new AbortController().signal,
    ...some,
  });
