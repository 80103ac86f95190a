import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runMatrix } from "../../faults/matrix.ts";
import { allClusterFaults } from "./all-faults.ts";
import type { ClusterFault } from "./fault.ts";
import { type ClusterCellResult, runClusterCell } from "./run-cell.ts";
import { type ClusterStage, openClusterStage } from "./stage.ts";
import { clusterHeading, toClusterLine } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Decides which worker dies, where one is drawn. */
    seed: { type: "string" },
    /** Cells whose name matches this regular expression. */
    only: { type: "string", default: "" },
    /** NATS syncs every message before it acknowledges it. */
    synced: { type: "boolean", default: false },
    /** An older `nats-server`, to be upgraded from; without it that cell is left out. */
    "older-nats": { type: "string" },
    /** A folder for what the processes of the service printed and the nodes stored, of cells that failed. */
    logs: { type: "string" },
  },
});

const olderNats = values["older-nats"];
const seed = values.seed ?? randomBytes(4).toString("hex");

async function run(fault: ClusterFault, shared: () => Promise<ClusterStage>): Promise<ClusterCellResult> {
  const isOwn = fault.begunOn !== undefined;
  const stage = isOwn ? await openStage(fault.begunOn) : await shared();
  let result: ClusterCellResult | null = null;
  try {
    result = await runClusterCell(stage, fault, seed);
    return result;
  } finally {
    if (result === null || result.violations.length > 0) await keepLogs(stage, fault);
    if (isOwn) await stage.close();
  }
}

const openStage = (binary?: string): Promise<ClusterStage> => openClusterStage({ isSynced: values.synced, binary });

/** What nodes store may change meanwhile; whatever can be copied is worth it. */
async function keepLogs({ processes, cluster }: ClusterStage, { name }: ClusterFault): Promise<void> {
  if (values.logs === undefined) return;
  const folder = join(values.logs, name.replaceAll(/[^A-Za-z0-9]+/g, "-"));
  await mkdir(folder, { recursive: true });
  for (const process of processes) await writeFile(join(folder, `${process.name}.log`), process.output());
  for (const node of cluster.nodes) {
    await node.copyTo(join(folder, node.name)).catch(() => {});
  }
}

const options = [values.synced ? " --synced" : "", olderNats === undefined ? "" : ` --older-nats ${olderNats}`];
const matrix = {
  command: `npm run test:cluster --${options.join("")}`,
  cells: allClusterFaults(olderNats).filter(({ name }) => new RegExp(values.only).test(name)),
  heading: clusterHeading,
  toLine: toClusterLine,
  open: () => openStage(),
  run,
  isAlone: ({ begunOn }: ClusterFault) => begunOn !== undefined,
};
await runMatrix(matrix, seed, 1);
