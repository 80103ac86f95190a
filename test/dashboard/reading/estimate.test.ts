import { expect } from "chai";
import { createEstimates } from "../../../src/dashboard/ui/reading/estimate.ts";

describe("The time that a job has left", () => {
  const jobWith = (sent: number, status: "processing" | "paused" = "processing") => ({
    id: "a",
    status,
    attempt: 1,
    progress: { ...none, total: 100, sent, pending: 100 - sent },
  });
  const none = { failed: 0, deferred: 0, unknown: 0, suppressed: 0, bounced: 0, complained: 0 };
  let at: number;
  const estimates = () => createEstimates(() => at);

  beforeEach(() => {
    at = 0;
  });

  it("is told from two looks at it", () => {
    const { look, perSecond, secondsLeft } = estimates();
    look(jobWith(10));
    expect(secondsLeft(jobWith(10))).to.equal(null);
    at = 2000;
    look(jobWith(20));
    expect([perSecond(jobWith(20)), secondsLeft(jobWith(20))]).to.deep.equal([5, 16]);
  });

  it("is not estimated while the job makes no progress", () => {
    const { look, secondsLeft } = estimates();
    look(jobWith(10));
    at = 5000;
    look(jobWith(10));
    expect(secondsLeft(jobWith(10))).to.equal(null);
    look(jobWith(10, "paused"));
    expect(secondsLeft(jobWith(10, "paused"))).to.equal(null);
  });

  it("is measured anew when it takes up again what was done", () => {
    const { look, secondsLeft } = estimates();
    look(jobWith(90));
    at = 5000;
    look(jobWith(10));
    expect(secondsLeft(jobWith(10))).to.equal(null);
  });
});
