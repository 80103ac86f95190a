import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { type LaunchedWaybill, launchWaybill, type Surroundings } from "../../support/waybill.ts";
import { deploy, separateProcesses, surroundingsOn } from "../deployment.ts";
import { cpuMicrosOf } from "../process-usage.ts";
import type { Measurement, Stage } from "../row.ts";
import { startSink } from "../sink/start-sink.ts";
import { toText } from "../wording.ts";

const perRole = 50;
/** On few cores, a hundred processes take minutes to compile their code. */
const readyWithinMs = 600_000;
const settleMs = 20_000;
const idleMs = 60_000;

/** Many processes that start at the same moment, as after a power failure, and then have nothing to do. */
export const fleet: Measurement = {
  name: "50 workers and 50 APIs",
  timeoutMs: 1_200_000,
  measure: ({ onFreshServers }) =>
    onFreshServers(async (stage) => {
      const { lifecycle, ground } = stage;
      const sink = await startSink(lifecycle, 0);
      const surroundings = await surroundingsOn(ground, sink.url);
      await deploy(stage, surroundings, separateProcesses);
      const startedAt = performance.now();
      const workers = launchMany(stage, surroundings, "worker");
      const apis = launchMany(stage, surroundings, "api");
      const ended = await untilReady([...workers, ...apis]);
      const readySeconds = (performance.now() - startedAt) / 1000;
      await Promise.all(apis.map((api) => api.terminate()));
      await pause(settleMs);
      const idle = await loadOf([ground.nats.pid, ...workers.map(({ pid }) => pid)]);
      const [nats = 0, ...ofWorkers] = idle;
      const ofWorker = ofWorkers.reduce((sum, percent) => sum + percent, 0) / perRole;
      return {
        figures: [
          { what: "of 100 started at once, ended", cold: ended, warm: null, targets: { cold: { atMost: 0 } } },
          { what: "until all are ready, s", cold: readySeconds, warm: null, targets: {} },
          { what: "NATS with 50 idle workers, % of a core", cold: nats, warm: null, targets: { cold: { atMost: 3 } } },
        ],
        notes: [`an idle worker takes ${toText(ofWorker)} % of a core itself`],
        rounds: { ended, readySeconds, nats, ofWorker },
      };
    }),
};

function launchMany({ lifecycle }: Stage, surroundings: Surroundings, role: string): readonly LaunchedWaybill[] {
  const launched = Array.from({ length: perRole }, () => launchWaybill(surroundings, role, { LOG_LEVEL: "info" }));
  lifecycle.started(`${perRole} × ${role}`, async () => {
    await Promise.all(launched.map((process) => process.kill()));
  });
  return launched;
}

/** Waits until each process is ready or has ended; answers how many have ended. */
async function untilReady(launched: readonly LaunchedWaybill[]): Promise<number> {
  await eventually(() => {
    const starting = launched.filter(({ isReady, hasEnded }) => !hasEnded() && !isReady());
    if (starting.length > 0) throw new Error(`${starting.length} processes are not ready`);
  }, readyWithinMs);
  return launched.filter(({ hasEnded }) => hasEnded()).length;
}

/** What each process takes of a core while nothing happens, in per cent. */
async function loadOf(pids: readonly number[]): Promise<readonly number[]> {
  const microsOf = (): readonly number[] => pids.map((pid) => cpuMicrosOf(pid) ?? 0);
  const before = microsOf();
  await pause(idleMs);
  const after = microsOf();
  return after.map((micros, index) => (micros - (before[index] ?? 0)) / (idleMs * 10));
}
