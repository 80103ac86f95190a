import type { ClusterFault } from "./fault.ts";
import { freezesOfNodes, killsOfNodes, lossesOfNodes, upgradeFrom } from "./node-faults.ts";
import { rollingRestart, whileWorkersDie } from "./process-faults.ts";
import { partings } from "./route-faults.ts";

const kills = 10;

/** The whole table, in the order in which it runs; the upgrade only where there is an older `nats-server`. */
export const allClusterFaults = (olderNats: string | undefined): readonly ClusterFault[] => [
  ...[...killsOfNodes(kills), ...freezesOfNodes, ...lossesOfNodes, ...partings].map(whileWorkersDie),
  rollingRestart,
  ...(olderNats === undefined ? [] : [whileWorkersDie(upgradeFrom(olderNats))]),
];
