import { counts, jobCompleted, jobFailed, jobRetried, jobStarted, retryJob } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, retrying, waiting } from "../support/histories.ts";

describe("retrying a job by hand", () => {
  it("begins its next run with a first attempt", () => {
    given(...failed())
      .when(retryJob())
      .records(jobRetried());
  });

  it("begins one run after the other", () => {
    given(...failed(), jobRetried(), jobStarted({ run: 2 }), jobFailed({ run: 2 }))
      .when(retryJob())
      .records(jobRetried({ run: 3 }));
  });

  it("begins with a first attempt however many the last run took", () => {
    given(...retrying(), jobStarted({ attempt: 2 }), jobFailed({ attempt: 2 }))
      .when(retryJob())
      .records(jobRetried());
  });

  it("keeps the scope, the reason and the priority of the job", () => {
    given(...failed({ priority: "low" }))
      .when(retryJob({ scope: "unsent", reason: "the server is back" }))
      .records(jobRetried({ priority: "low", scope: "unsent", reason: "the server is back" }));
  });

  it("runs a job again that completed without some recipients, also those that its last retry left out", () => {
    for (const left of [{ failed: 1 }, { unknown: 1 }, { pending: 1 }]) {
      given(...processing(), jobCompleted({ counts: counts({ sent: 2, ...left }) }))
        .when(retryJob())
        .records(jobRetried());
    }
  });

  for (const [status, history] of each({ ...waiting, processing, paused, completed, cancelled })) {
    it(`is refused while nobody is left over: ${status}`, () => {
      given(...history())
        .when(retryJob())
        .isRefused({ code: "job-not-failed", currentStatus: status });
    });
  }

  it("is refused when it was retried already", () => {
    given(...failed(), jobRetried())
      .when(retryJob())
      .isRefused({ code: "job-not-failed", currentStatus: "pending" });
  });

  it("is refused for a job that was never created", () => {
    given().when(retryJob()).isRefused({ code: "job-not-found" });
  });
});
