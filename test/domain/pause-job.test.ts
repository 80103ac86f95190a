import { jobPaused, jobResumed, pauseJob } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, paused, processing, waiting } from "../support/histories.ts";

describe("pausing a job", () => {
  for (const [status, history] of each({ ...waiting, processing })) {
    it(`holds it back whatever it was doing: ${status}`, () => {
      given(...history())
        .when(pauseJob())
        .records(jobPaused());
    });
  }

  it("keeps the reason", () => {
    given(...processing())
      .when(pauseJob({ reason: "the shop is down" }))
      .records(jobPaused({ reason: "the shop is down" }));
  });

  it("holds it back again after it went on", () => {
    given(...paused(), jobResumed())
      .when(pauseJob())
      .records(jobPaused());
  });

  it("is a repeat when it is paused", () => {
    given(...paused())
      .when(pauseJob({ reason: "once more" }))
      .recordsNothing();
  });

  for (const [status, history] of each(ended)) {
    it(`is refused once it has ended: ${status}`, () => {
      given(...history())
        .when(pauseJob())
        .isRefused({ code: "job-has-ended", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(pauseJob()).isRefused({ code: "job-not-found" });
  });
});
