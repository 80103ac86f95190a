import { setTimeout as pause } from "node:timers/promises";
import { drawn } from "../../faults/seeded.ts";
import { type ClusterFault, costsNothing } from "./fault.ts";
import type { ClusterStage } from "./stage.ts";

/** As an operator brings a new release to all machines. */
export const rollingRestart: ClusterFault = {
  name: "SIGTERM and restart of each process in turn",
  strike: async ({ processes }) => {
    for (const process of processes) await process.restart();
    return costsNothing;
  },
};

/**
 * A job is taken over 15 s after its worker died, and given up where six workers in a row died of it before they recorded
 * anything: twice as often, and with elections in between, chance alone does that to a mailing.
 */
const killEveryMs = 10_000;

/** The fault, while some worker dies every few seconds. */
export const whileWorkersDie = (fault: ClusterFault): ClusterFault => ({
  ...fault,
  strike: async (stage, seed) => {
    const over = new AbortController();
    const killing = killWorkers(stage, `${seed} ${fault.name}`, over.signal);
    try {
      const toll = await fault.strike(stage, seed);
      over.abort();
      return { ...toll, killedWorkers: toll.killedWorkers + (await killing) };
    } finally {
      over.abort();
    }
  },
});

/** Returns how often it did. */
async function killWorkers({ workers }: ClusterStage, seed: string, signal: AbortSignal): Promise<number> {
  let killed = 0;
  for (;;) {
    await pause(killEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return killed;
    workers[Math.floor(drawn(seed, `victim ${killed}`) * workers.length)]?.kill();
    killed += 1;
  }
}
