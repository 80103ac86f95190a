import { expect } from "chai";
import { checkMailingRequest } from "../../src/mailings/mailing-request.ts";

const rules = { senders: null, allowed: [], publicUrl: null, routesFor: () => [] };
const hours = { from: "08:00", to: "09:00", timeZone: "UTC" };

const cpuMsOf = (window: object): number => {
  const before = process.cpuUsage();
  expect(checkMailingRequest({ subject: "Hi", text: "Hi", window: { ...hours, ...window } }, rules)).to.include({
    valid: false,
  });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

describe("The window of a mailing", () => {
  before(() => void cpuMsOf({ days: [] }));

  it("is refused at little cost with twenty thousand days, or a zone of megabytes", () => {
    expect(cpuMsOf({ days: Array.from({ length: 19_900 }, (_, day) => day) })).to.be.lessThan(500);
    expect(cpuMsOf({ days: ["mon"], timeZone: "A/".repeat(4_000_000) })).to.be.lessThan(500);
  });
});
