import { failJob, jobFailed, jobRetried, jobStarted, smtpUnavailable } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, retrying, waiting } from "../support/histories.ts";

describe("failing a job", () => {
  it("ends it with the reason and the counts of its recipients", () => {
    given(...processing())
      .when(failJob({ error: smtpUnavailable }))
      .records(jobFailed({ error: smtpUnavailable }));
  });

  it("ends it in the attempt and the run that the worker holds", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(failJob({ attempt: 2 }))
      .records(jobFailed({ attempt: 2 }));
    given(...failed(), jobRetried(), jobStarted({ run: 2 }))
      .when(failJob({ run: 2 }))
      .records(jobFailed({ run: 2 }));
  });

  it("is a repeat when it failed in this attempt", () => {
    given(...failed())
      .when(failJob())
      .recordsNothing();
  });
});

describe("failing a job without its lease", () => {
  it("is refused when another worker took it over", () => {
    given(...processing(), jobStarted({ worker: "worker-2" }))
      .when(failJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when the worker holds another attempt", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(failJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when it failed in another attempt or another run", () => {
    given(...retrying(), jobStarted({ attempt: 2 }), jobFailed({ attempt: 2 }))
      .when(failJob())
      .isRefused({ code: "lease-lost", currentStatus: "failed" });
    given(...failed(), jobRetried(), jobStarted({ run: 2 }), jobFailed({ run: 2 }))
      .when(failJob())
      .isRefused({ code: "lease-lost", currentStatus: "failed" });
  });

  for (const [status, history] of each({ ...waiting, paused, completed, cancelled })) {
    it(`is refused when no worker is processing it: ${status}`, () => {
      given(...history())
        .when(failJob())
        .isRefused({ code: "lease-lost", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(failJob()).isRefused({ code: "job-not-found" });
  });
});
