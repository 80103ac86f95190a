import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import { startKubernetesCluster } from "../../ops/shipped-cluster.ts";
import { ownNatsVersion } from "../../support/own-binaries.ts";
import { deploy, separateProcesses, surroundingsOn } from "../deployment.ts";
import { idleLoadOf, launchMany, untilReady } from "../many-processes.ts";
import { type Measurement, NotAvailable } from "../row.ts";
import { startSink } from "../sink/start-sink.ts";
import { toText } from "../wording.ts";

const workers = 50;
const nodes = 3;

/** What workers without work cost each node, beside a service that has nothing to do either. */
export const idleCluster: Measurement = {
  name: "50 idle workers on three nodes",
  timeoutMs: 1_200_000,
  measure: ({ onFreshServers }) =>
    onFreshServers(async (stage) => {
      const { lifecycle, ground } = stage;
      const version = await ownNatsVersion();
      if (whyNoReplicas(version, nodes) !== null)
        throw new NotAvailable(`NATS is ${version}; it cannot keep several copies`);
      const cluster = await startKubernetesCluster();
      lifecycle.started("three nodes of NATS", cluster.stop);
      const sink = await startSink(lifecycle, 0);
      const alone = await surroundingsOn(ground, sink.url);
      const surroundings = { ...alone, nats: { ...alone.nats, config: cluster.config } };
      await deploy(stage, surroundings, separateProcesses, { STREAM_REPLICAS: String(nodes) });
      const before = await idleLoadOf(cluster.pids);
      const launched = launchMany(stage, surroundings, workers, "worker");
      const ended = await untilReady(launched);
      const after = await idleLoadOf(cluster.pids);
      const added = after.map((percent, node) => percent - (before[node] ?? 0));
      const most = Math.max(...added);
      return {
        figures: [
          { what: "of 50 workers started at once, ended", cold: ended, warm: null, targets: { cold: { atMost: 0 } } },
          { what: "they cost the busiest node, % of a core", cold: most, warm: null, targets: { cold: { atMost: 3 } } },
        ],
        notes: [`each node: ${after.map(toText).join(", ")} %; before: ${before.map(toText).join(", ")} %`],
        rounds: { ended, before, after },
      };
    }),
};
