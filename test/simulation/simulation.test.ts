import { expect } from "chai";
import { runHistory } from "./run-history.ts";
import { scenarioOf, sharedScenarioOf } from "./scenario.ts";

function wholeNumber(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${name} is "${process.env[name]}"; expected a whole number from 1`);
}

describe("a service in a world where everything goes wrong", () => {
  it("keeps what must always hold, in every history", async function () {
    const runs = wholeNumber("SIMULATION_RUNS", 1500);
    const first = wholeNumber("SIMULATION_SEED", 1);
    this.timeout(60_000 + runs * 1000);
    this.slow(runs * 20);
    for (let seed = first; seed < first + runs; seed += 1) {
      const { violations, story } = await runHistory(seed);
      if (violations.length === 0) continue;
      const again = `SIMULATION_SEED=${seed} SIMULATION_RUNS=1`;
      expect.fail([`History ${seed} broke a promise (${again}):`, ...violations, "", ...story].join("\n"));
    }
  });

  it("keeps it where workers share large mailings", async function () {
    const runs = Math.ceil(wholeNumber("SIMULATION_RUNS", 1500) / 3);
    const first = wholeNumber("SIMULATION_SEED", 1);
    this.timeout(60_000 + runs * 2000);
    this.slow(runs * 60);
    for (let seed = first; seed < first + runs; seed += 1) {
      const { violations, story } = await runHistory(seed, sharedScenarioOf(seed));
      const again = `SIMULATION_SEED=${seed} SIMULATION_RUNS=1`;
      expect(violations, [`History ${seed} (${again})`, ...story].join("\n")).to.deep.equal([]);
    }
  });

  // The first one shows a worker that was frozen and claims a recipient in doubt once more than a job may be taken over.
  // The next two show a worker that goes on as a zombie if one of the two rules told apart in test/workers/lease.test.ts
  // is taken back, the last one a worker that mails what another one recorded as sent while it was frozen, without the rule
  // of test/workers/late-outcomes.test.ts. Too rare for the histories above to find it every time. Other code draws other
  // lots: look for new ones.
  for (const seed of [1487, 1824, 6235, 26556]) {
    it(`keeps it in history ${seed}, which once broke it`, async () => {
      const { violations, story } = await runHistory(seed);
      expect(violations, story.join("\n")).to.deep.equal([]);
    });
  }

  // Two workers waited for each other; a helper's end reached the next lease of the same holder; helpers asked again and
  // again for recipients that were all in doubt.
  const onceBroke = [
    { seed: 1244, scenario: scenarioOf(1244) },
    { seed: 1523, scenario: scenarioOf(1523) },
    { seed: 2612, scenario: sharedScenarioOf(2612) },
    { seed: 2965, scenario: sharedScenarioOf(2965) },
  ];
  for (const { seed, scenario } of onceBroke) {
    it(`keeps it in history ${seed} of workers that share, which once broke it`, async () => {
      const { violations, story } = await runHistory(seed, scenario);
      expect(violations, story.join("\n")).to.deep.equal([]);
    });
  }

  it("goes the same way twice from the same seed", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      expect((await runHistory(seed)).story).to.deep.equal((await runHistory(seed)).story);
    }
  });
});
