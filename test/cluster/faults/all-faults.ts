import type { ClusterFault } from "./fault.ts";
import { freezesOfNodes, killsOfNodes, lossesOfNodes } from "./node-faults.ts";
import { rollingRestart, whileWorkersDie } from "./process-faults.ts";
import { partings } from "./route-faults.ts";

const kills = 10;

const faultsOfNodes: readonly ClusterFault[] = [
  ...killsOfNodes(kills),
  ...freezesOfNodes,
  ...lossesOfNodes,
  ...partings,
];

/** The whole table, in the order in which it runs. */
export const allClusterFaults: readonly ClusterFault[] = [
  ...faultsOfNodes,
  rollingRestart,
  ...faultsOfNodes.map(whileWorkersDie),
];
