import { expect } from "chai";
import type { Figure } from "./row.ts";
import { toLines, toSummary } from "./table.ts";

describe("a line of the benchmark's table", () => {
  const line = (figure: Partial<Figure>): string => {
    const whole = { what: "mails/s", cold: 1.6, warm: 2.1, targets: {}, ...figure };
    const [first = ""] = toLines({ name: "a mailing", figures: [whole], notes: [], rounds: [] });
    return first.replace(/ {2,}/g, " | ").trim();
  };
  const targets = { warm: { atLeast: 2 }, cold: { atLeast: 1.5 } };

  it("shows the target, what was measured cold and warm, and whether both keep it", () => {
    expect(line({ targets })).to.equal("a mailing | mails/s | ≥ 2.00, cold ≥ 1.50 | 1.60 | 2.10 | met");
    expect(line({ targets, cold: 1.4 })).to.contain("MISSED");
  });

  it("says that a target was not measured, and nothing about a figure without one", () => {
    expect(line({ targets, warm: null })).to.contain("– | not measured");
    expect(line({})).to.equal("a mailing | mails/s | 1.60 | 2.10 |");
  });

  it("counts what could not be measured apart from what missed its target", () => {
    expect(toSummary([], 1, 2)).to.equal(
      "0 of 0 measured rows meet their targets, 1 failed, 2 cannot be measured here",
    );
  });
});
