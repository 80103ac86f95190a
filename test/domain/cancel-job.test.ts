import { cancelJob, jobCancelled } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, paused, processing, waiting } from "../support/histories.ts";

describe("cancelling a job", () => {
  for (const [status, history] of each({ ...waiting, processing, paused })) {
    it(`ends it whatever it was doing: ${status}`, () => {
      given(...history())
        .when(cancelJob())
        .records(jobCancelled());
    });
  }

  it("keeps the reason", () => {
    given(...processing())
      .when(cancelJob({ reason: "wrong list" }))
      .records(jobCancelled({ reason: "wrong list" }));
  });

  for (const [status, history] of each(ended)) {
    it(`is refused once it has ended: ${status}`, () => {
      given(...history())
        .when(cancelJob())
        .isRefused({ code: "job-has-ended", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(cancelJob()).isRefused({ code: "job-not-found" });
  });
});
