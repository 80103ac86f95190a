import {
  earlier,
  jobCreated,
  jobFailed,
  jobPaused,
  jobResumed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
  later,
  now,
  resumeJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, failed, paused, processing, retrying, scheduled, waiting } from "../support/histories.ts";

describe("resuming a paused job", () => {
  it("opens the turn that it had not begun", () => {
    given(...paused())
      .when(resumeJob())
      .records(jobResumed());
  });

  it("opens the attempt that was interrupted, so that the pause uses up none", () => {
    given(...retrying(), jobStarted({ attempt: 2 }), jobPaused())
      .when(resumeJob())
      .records(jobResumed({ attempt: 2 }));
  });

  it("opens the attempt that it waited for, at once", () => {
    given(...retrying(), jobPaused())
      .when(resumeJob())
      .records(jobResumed({ attempt: 2 }));
  });

  it("opens the turn of a run that was begun by hand", () => {
    given(...failed(), jobRetried(), jobPaused())
      .when(resumeJob())
      .records(jobResumed({ run: 2 }));
  });

  it("keeps the reason, and the priority for the scheduler", () => {
    given(...paused({ priority: "high" }))
      .when(resumeJob({ reason: "the shop is back" }))
      .records(jobResumed({ priority: "high", reason: "the shop is back" }));
  });
});

describe("resuming a paused job that waits for a time", () => {
  it("has it wait on while the time is to come", () => {
    given(...scheduled(), jobPaused())
      .when(resumeJob())
      .records(jobResumed({ notBefore: later }));
  });

  it("lets it go on when the time passed meanwhile", () => {
    given(...scheduled({ scheduledAt: earlier }), jobPaused())
      .when(resumeJob())
      .records(jobResumed());
    given(...scheduled({ scheduledAt: now }), jobPaused())
      .when(resumeJob())
      .records(jobResumed());
  });

  it("does not put off an attempt after the first, which began when it was time", () => {
    const history = [jobCreated({ scheduledAt: later }), jobStarted(), jobRetryScheduled(), jobPaused()];
    given(...history)
      .when(resumeJob())
      .records(jobResumed({ attempt: 2 }));
  });

  it("does not put off a run that was begun by hand", () => {
    const history = [jobCreated({ scheduledAt: later }), jobStarted(), jobFailed(), jobRetried(), jobPaused()];
    given(...history)
      .when(resumeJob())
      .records(jobResumed({ run: 2 }));
  });
});

describe("resuming a job that is not paused", () => {
  for (const [status, history] of each({ ...waiting, processing, ...ended })) {
    it(`is refused: ${status}`, () => {
      given(...history())
        .when(resumeJob())
        .isRefused({ code: "job-not-paused", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(resumeJob()).isRefused({ code: "job-not-found" });
  });
});
