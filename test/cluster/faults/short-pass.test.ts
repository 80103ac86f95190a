import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import { ownNatsVersion } from "../../support/own-binaries.ts";
import type { ClusterFault } from "./fault.ts";
import { killsOfNodes, takeoverOfAwakened, twoKilled } from "./node-faults.ts";
import { runClusterCell } from "./run-cell.ts";
import { type ClusterStage, openClusterStage } from "./stage.ts";
import { toClusterLine } from "./table.ts";

const nodes = 3;

/** The most telling cells of the table; `npm run test:cluster` runs them all. */
const telling: readonly ClusterFault[] = [...killsOfNodes(1).slice(0, 1), takeoverOfAwakened, twoKilled];

describe("the service on three nodes under load, while something breaks and heals again", function () {
  this.timeout(150_000);

  const seed = process.env["TEST_FAULTS_SEED"] ?? randomBytes(4).toString("hex");
  let stage: ClusterStage;

  before(async function () {
    const why = whyNoReplicas(await ownNatsVersion(), nodes);
    // Waybill refuses to start there, which another test shows.
    if (why !== null) this.skip();
    stage = await openClusterStage();
  });

  after(() => stage?.close());

  for (const fault of telling) {
    it(`keeps every promise through: ${fault.name}`, async () => {
      const result = await runClusterCell(stage, fault, seed);
      expect(result.mails, "mails that arrived").to.be.greaterThan(0);
      expect(result.violations, `${toClusterLine({ kind: "ran", result })} (TEST_FAULTS_SEED=${seed})`).to.deep.equal(
        [],
      );
    });
  }
});
