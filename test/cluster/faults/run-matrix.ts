import { randomBytes } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { runMatrix } from "../../faults/matrix.ts";
import { endRun } from "../../support/end-of-run.ts";
import { allClusterFaults } from "./all-faults.ts";
import type { ClusterFault } from "./fault.ts";
import { runClusterCell } from "./run-cell.ts";
import { type ClusterStage, openClusterStage } from "./stage.ts";
import { clusterHeading, toClusterLine } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Decides whom the faults strike that choose. */
    seed: { type: "string" },
    /** Cells whose name contains this. */
    only: { type: "string" },
    /** NATS syncs every message before it acknowledges it. */
    synced: { type: "boolean", default: false },
  },
});

const seed = values.seed ?? randomBytes(4).toString("hex");

const run = async (fault: ClusterFault, shared: () => Promise<ClusterStage>) =>
  await runClusterCell(await shared(), fault, seed);

try {
  const matrix = {
    command: `npm run test:cluster --${values.synced ? " --synced" : ""}`,
    cells: allClusterFaults.filter(({ name }) => name.includes(values.only ?? "")),
    heading: clusterHeading,
    toLine: toClusterLine,
    open: () => openClusterStage({ isSynced: values.synced }),
    run,
  };
  process.exitCode = await runMatrix(matrix, seed, 1);
} finally {
  await endRun();
}
