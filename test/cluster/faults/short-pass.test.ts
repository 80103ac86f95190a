import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import { ownNatsVersion } from "../../support/own-binaries.ts";
import { expectRefusal } from "../expect-refusal.ts";
import type { ClusterFault } from "./fault.ts";
import { killsOfNodes, takeoverOfAwakened, twoKilled } from "./node-faults.ts";
import { runClusterCell } from "./run-cell.ts";
import { type ClusterStage, openClusterStage } from "./stage.ts";
import { toClusterLine } from "./table.ts";

const nodes = 3;
/** Three other test files run at the same time, and the longest ones. `npm run test:cluster` keeps to the times. */
const slack = 3;

/** The most telling cells of the table; `npm run test:cluster` runs them all. */
const telling: readonly ClusterFault[] = [...killsOfNodes(1).slice(0, 1), takeoverOfAwakened, twoKilled];

describe("the service on three nodes under load, while something breaks and heals again", function () {
  this.timeout(600_000);

  const seed = process.env["TEST_FAULTS_SEED"] ?? randomBytes(4).toString("hex");

  it("keeps every promise, or does not start where NATS cannot keep several copies", async () => {
    if (whyNoReplicas(await ownNatsVersion(), nodes) !== null) return await expectRefusal(nodes);
    const stage = await openClusterStage();
    try {
      for (const fault of telling) await expectToHold(stage, fault, seed);
    } finally {
      await stage.close();
    }
  });
});

async function expectToHold(stage: ClusterStage, fault: ClusterFault, seed: string): Promise<void> {
  const result = await runClusterCell(stage, fault, seed, slack);
  const line = `${toClusterLine({ kind: "ran", result })} (TEST_FAULTS_SEED=${seed})`;
  expect(result.mails, `mails that arrived: ${line}`).to.be.greaterThan(0);
  expect(result.violations, line).to.deep.equal([]);
}
