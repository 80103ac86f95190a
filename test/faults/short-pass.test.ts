import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { allFaults, fewAgedJobs } from "./all-faults.ts";
import { runCell } from "./run-cell.ts";
import { openStage, type Stage } from "./stage.ts";
import { toLine } from "./table.ts";

/**
 * The most telling cells of the matrix; `npm run test:faults` runs them all. Tests of `test/journey` kill workers and take
 * the database away, so those cells are not here.
 */
const telling = [
  "SIGKILL of the api",
  "SIGKILL of NATS",
  "SIGTERM and restart of each role in turn",
  "workers–NATS loses answers, 2 s",
  "mail server hangs up after the dot, 2 s",
];

describe("the service under load, while something breaks and heals again", function () {
  this.timeout(240_000);

  const seed = process.env["TEST_FAULTS_SEED"] ?? randomBytes(4).toString("hex");
  let stage: Stage;

  before(async () => {
    stage = await openStage();
  });

  after(() => stage.close());

  for (const name of telling) {
    it(`keeps every promise through: ${name}`, async () => {
      const fault = allFaults(fewAgedJobs).find((candidate) => candidate.name === name);
      if (fault === undefined) throw new Error(`There is no fault ${JSON.stringify(name)}`);
      const result = await runCell(stage, fault, seed);
      expect(result.mails, "mails that arrived").to.be.greaterThan(0);
      expect(result.violations, `${toLine({ kind: "ran", result })} (TEST_FAULTS_SEED=${seed})`).to.deep.equal([]);
    });
  }
});
