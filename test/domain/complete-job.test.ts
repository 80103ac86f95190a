import { completeJob, counts, jobCompleted, jobRetried, jobStarted } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, retrying, waiting } from "../support/histories.ts";

describe("completing a job", () => {
  it("ends it with the counts of its recipients", () => {
    const mostly = counts({ sent: 2, failed: 1 });
    given(...processing())
      .when(completeJob({ counts: mostly }))
      .records(jobCompleted({ counts: mostly }));
  });

  it("ends it in the attempt and the run that the worker holds", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(completeJob({ attempt: 2 }))
      .records(jobCompleted({ attempt: 2 }));
    given(...failed(), jobRetried(), jobStarted({ run: 2 }))
      .when(completeJob({ run: 2 }))
      .records(jobCompleted({ run: 2 }));
  });

  it("is a repeat when it was completed in this attempt", () => {
    given(...completed())
      .when(completeJob())
      .recordsNothing();
  });
});

describe("completing a job without its lease", () => {
  it("is refused when another worker took it over", () => {
    given(...processing(), jobStarted({ worker: "worker-2" }))
      .when(completeJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when the worker holds another attempt or another run", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(completeJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
    given(...failed(), jobRetried(), jobStarted({ run: 2 }))
      .when(completeJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when it was completed in another attempt", () => {
    given(...retrying(), jobStarted({ attempt: 2 }), jobCompleted({ attempt: 2 }))
      .when(completeJob())
      .isRefused({ code: "lease-lost", currentStatus: "completed" });
  });

  for (const [status, history] of each({ ...waiting, paused, failed, cancelled })) {
    it(`is refused when no worker is processing it: ${status}`, () => {
      given(...history())
        .when(completeJob())
        .isRefused({ code: "lease-lost", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(completeJob()).isRefused({ code: "job-not-found" });
  });
});
