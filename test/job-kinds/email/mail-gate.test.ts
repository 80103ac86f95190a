import { expect } from "chai";
import { createMailGate } from "../../../src/job-kinds/email/mail-gate.ts";

describe("The gate of mails, while all mail routes are away", () => {
  const gateOf = (waiting: readonly number[]) => {
    const counted = [...waiting];
    const routing = {
      onChange: () => {},
      start: () => {},
      stop: () => {},
      state: () => "closed" as const,
      standing: () => "away" as const,
    };
    const worker = { busy: () => 0, lookForWork: () => {}, waiting: async () => counted.shift() ?? 0 };
    return { gate: createMailGate(routing, worker), left: () => counted };
  };

  it("counts the turns that wait once, and not each time, where they are many", async () => {
    const { gate, left } = gateOf([5, 0]);
    for (let time = 0; time < 10; time += 1) expect(await gate.mayTake()).to.equal("mail-server-away");
    expect(left()).to.deep.equal([0]);
  });

  it("lets one turn try a route where few wait, and counts again", async () => {
    const { gate, left } = gateOf([4, 0, 5]);
    const answers = [await gate.mayTake(), await gate.mayTake(), await gate.mayTake()];
    expect(answers).to.deep.equal([1, 1, "mail-server-away"]);
    expect(left()).to.deep.equal([]);
  });
});
