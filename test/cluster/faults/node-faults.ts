import { locateOwnBinaries } from "../../support/own-binaries.ts";
import type { ClusterNode } from "../cluster-node.ts";
import { type ClusterFault, costsNothing, lasting, type Toll } from "./fault.ts";
import { follower, leaderOfLog, parts } from "./parts-of-nodes.ts";
import type { ClusterStage } from "./stage.ts";

/** As long as systemd and the server take to have it back. */
const awayMs = 2000;
/** Each kill strikes a service that has gone on since the one before: every replica may be up to date before a client is. */
const betweenMs = 5000;

export const killsOfNodes = (times: number): readonly ClusterFault[] =>
  parts.map(({ name, find }) => ({
    name: `SIGKILL of ${name}, ${times} x`,
    strike: async (stage) => {
      for (let kill = 0; kill < times; kill += 1) {
        const node = await find(stage);
        await node.kill();
        await lasting(awayMs);
        await stage.cluster.heal();
        await lasting(betweenMs);
      }
      return costsNothing;
    },
  }));

export const freezesOfNodes: readonly ClusterFault[] = [5, 40].flatMap((seconds) =>
  parts.map(({ name, find }) => ({
    name: `SIGSTOP of ${name}, ${seconds} s`,
    strike: async (stage) => {
      (await find(stage)).freeze();
      await lasting(seconds * 1000);
      await stage.cluster.heal();
      return costsNothing;
    },
  })),
);

/** A follower that is thawed during the takeover may have entries that no other node has. */
export const takeoverOfAwakened: ClusterFault = {
  name: "a follower frozen and thawed during a takeover",
  strike: async (stage) => {
    const [leader, frozen] = [await leaderOfLog.find(stage), await follower.find(stage)];
    frozen.freeze();
    await lasting(2000);
    const from = performance.now();
    await leader.kill();
    await lasting(3000);
    frozen.thaw();
    const to = performance.now();
    await lasting(5000);
    await stage.cluster.heal();
    return { ...costsNothing, excused: [{ from, to }] };
  },
};

const lostMs = 20_000;
/** So long the cell goes on at least: everything must be as before by then. */
const untilBackMs = 10_000;

/** The leader among them, so that nothing of what it had alone is there. */
async function loseTwo(stage: ClusterStage, lose: (node: ClusterNode) => Promise<void>): Promise<Toll> {
  const lost = [await leaderOfLog.find(stage), await follower.find(stage)];
  const from = performance.now();
  await Promise.all(lost.map(lose));
  await lasting(lostMs);
  for (const node of lost) {
    node.thaw();
    await node.start();
  }
  const to = performance.now();
  await lasting(untilBackMs);
  await stage.cluster.heal();
  return { ...costsNothing, excused: [{ from, to }] };
}

export const twoKilled: ClusterFault = {
  name: "two of three nodes killed, 20 s",
  strike: (stage) => loseTwo(stage, (node) => node.kill()),
};

const twoFrozen: ClusterFault = {
  name: "two of three nodes frozen, 20 s",
  strike: (stage) => loseTwo(stage, async (node) => node.freeze()),
};

const wiped: ClusterFault = {
  name: "the log's leader killed and wiped",
  strike: async (stage) => {
    const node = await leaderOfLog.find(stage);
    await node.kill();
    await node.wipe();
    await lasting(awayMs);
    await stage.cluster.heal();
    return costsNothing;
  },
};

/** Each node in turn, the next one once all replicas are up to date again. */
const rolling = (name: string, leave: (node: ClusterNode) => Promise<void>): ClusterFault => ({
  name,
  strike: async (stage) => {
    for (const node of stage.cluster.nodes) {
      await leave(node);
      await stage.cluster.heal();
    }
    return costsNothing;
  },
});

export const lossesOfNodes: readonly ClusterFault[] = [
  takeoverOfAwakened,
  twoKilled,
  twoFrozen,
  wiped,
  rolling("SIGTERM and restart of each node in turn", (node) => node.stop()),
  rolling("lame duck mode of each node in turn", (node) => node.retire()),
];

/** From an older release to the one that is first in PATH, as an operator upgrades the nodes. */
export const upgradeFrom = (binary: string): ClusterFault => ({
  ...rolling("upgrade of each node in turn", async (node) => {
    await node.stop();
    node.use((await locateOwnBinaries()).nats);
  }),
  begunOn: binary,
});
