import { deploy, separateProcesses, surroundingsOn } from "../deployment.ts";
import { idleLoadOf, launchMany, untilReady } from "../many-processes.ts";
import type { Measurement } from "../row.ts";
import { startSink } from "../sink/start-sink.ts";
import { toText } from "../wording.ts";

const perRole = 50;

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
      const [before = 0] = await idleLoadOf([ground.nats.pid]);
      const startedAt = performance.now();
      const workers = launchMany(stage, surroundings, perRole, "worker");
      const apis = launchMany(stage, surroundings, perRole, "api");
      const ended = await untilReady([...workers, ...apis]);
      const readySeconds = (performance.now() - startedAt) / 1000;
      await Promise.all(apis.map((api) => api.terminate()));
      const idle = await idleLoadOf([ground.nats.pid, ...workers.map(({ pid }) => pid)]);
      const [nats = 0, ...ofWorkers] = idle;
      const ofWorker = ofWorkers.reduce((sum, percent) => sum + percent, 0) / perRole;
      return {
        figures: [
          { what: "of 100 started at once, ended", cold: ended, warm: null, targets: { cold: { atMost: 0 } } },
          { what: "until all are ready, s", cold: readySeconds, warm: null, targets: {} },
          {
            what: "idle workers cost NATS, % of a core",
            cold: nats - before,
            warm: null,
            targets: { cold: { atMost: 3 } },
          },
        ],
        notes: [
          `NATS takes ${toText(nats)} % in all, and ${toText(before)} % without them; an idle worker ${toText(ofWorker)} % itself`,
        ],
        rounds: { ended, readySeconds, before, nats, ofWorker },
      };
    }),
};
