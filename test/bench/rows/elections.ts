import { setTimeout as pause } from "node:timers/promises";
import { connect } from "nats";
import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import type { ClusterNode } from "../../cluster/cluster-node.ts";
import { type NatsCluster, startNatsCluster } from "../../cluster/nats-cluster.ts";
import { type Measurement, NotAvailable } from "../row.ts";
import { median } from "../statistics.ts";

const nodes = 3;
const kills = 20;
const stream = "BARE";
const publishEveryMs = 50;
const answerMs = 500;
/** As long as it takes a client to go on after the kill before. */
const restMs = 3000;
/** Much longer than a message takes, and much shorter than an election. */
const lookEveryMs = 1000;
const leaderlessMs = 300;

/** How long NATS by itself takes nothing after a leader was killed: no client of it can go on earlier. */
export const elections: Measurement = {
  name: "NATS alone: no message stored after the leader of three copies is killed",
  timeoutMs: 900_000,
  measure: async () => {
    const cluster = await startNatsCluster();
    try {
      const why = whyNoReplicas(cluster.version, nodes);
      if (why !== null) throw new NotAvailable(`${why.what}.`);
      await cluster.manage(({ streams }) => streams.add({ name: stream, subjects: ["bare"], num_replicas: nodes }));
      const gapsMs: number[] = [];
      while (gapsMs.length < kills) {
        gapsMs.push(await gapAfterKill(cluster));
        await cluster.heal();
      }
      const figure = (what: string, ms: number) => ({ what, cold: null, warm: ms / 1000, targets: {} });
      return {
        figures: [figure("median s", median(gapsMs)), figure("longest s", Math.max(...gapsMs))],
        notes: [`${kills} kills; a client on each other node publishes every ${publishEveryMs} ms`],
        rounds: gapsMs,
      };
    } finally {
      await cluster.cleanUp();
    }
  },
};

async function gapAfterKill(cluster: NatsCluster): Promise<number> {
  const leader = await cluster.leaderOf(stream);
  const over = new AbortController();
  let storedAt = performance.now();
  let longestMs = 0;
  const stored = (): void => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - storedAt);
    storedAt = now;
  };
  const publishing = cluster.nodes
    .filter((node) => node !== leader)
    .map((node) => publishTo(node, stored, over.signal));
  await pause(restMs);
  longestMs = 0;
  await leader.kill();
  do await pause(lookEveryMs);
  while (performance.now() - storedAt >= leaderlessMs);
  over.abort();
  await Promise.all(publishing);
  return longestMs;
}

async function publishTo({ config }: ClusterNode, stored: () => void, signal: AbortSignal): Promise<void> {
  const nats = await connect({ servers: [...config.servers] });
  while (!signal.aborted) {
    const stores = nats.jetstream().publish("bare", "x", { timeout: answerMs });
    await Promise.all([stores.then(stored, () => {}), pause(publishEveryMs)]);
  }
  await nats.close();
}
