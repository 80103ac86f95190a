import { expect } from "chai";
import { between, counted, duration, figure, percent } from "../../../src/dashboard/ui/reading/words.ts";

describe("Figures in the dashboard", () => {
  it("are words that people read", () => {
    expect([counted(1, "job"), counted(12345, "job")]).to.deep.equal(["1 job", "12,345 jobs"]);
    expect([percent(0.005), percent(0.5), percent(null)]).to.deep.equal(["0.5 %", "50 %", "–"]);
    expect([duration(45), duration(180), duration(7800), duration(86_400)]).to.deep.equal([
      "45 s",
      "3 min",
      "2 h 10 min",
      "1 d",
    ]);
  });

  it("say how long something took", () => {
    const from = "2026-11-24T08:00:00.000Z";
    expect([between(from, "2026-11-24T08:00:00.900Z"), between(from, "2026-11-24T08:03:05.000Z")]).to.deep.equal([
      "under 1 s",
      "3 min",
    ]);
  });

  it("are never nonsense, whatever they are made of", () => {
    expect([percent(1.7), percent(-0.1), percent(0 / 0)]).to.deep.equal(["100 %", "0 %", "–"]);
    expect([duration(-5), duration(0 / 0), duration(1 / 0)]).to.deep.equal(["0 s", "–", "–"]);
    expect([figure(0 / 0), counted(1 / 0, "job")]).to.deep.equal(["–", "– jobs"]);
  });
});
