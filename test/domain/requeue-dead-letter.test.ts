import {
  cancelJob,
  completeJob,
  deadLetterIgnored,
  jobFailed,
  jobRequeued,
  jobRetried,
  jobStarted,
  pauseJob,
  requeueDeadLetter,
  resumeJob,
  retryJob,
  startJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, waiting } from "../support/histories.ts";

const failedTwice = [...failed(), jobRetried(), jobStarted({ run: 2 }), jobFailed({ run: 2 })];

describe("running a failed job again as another job", () => {
  it("names the other job, the run that failed and the reason", () => {
    const said = { asJobId: "another", reason: "the server is back" };
    given(...failed())
      .when(requeueDeadLetter(said))
      .records(jobRequeued(said));
  });

  it("is possible for the last run that failed", () => {
    given(...failedTwice)
      .when(requeueDeadLetter({ run: 2 }))
      .records(jobRequeued({ run: 2 }));
  });

  it("is possible after the dead letter was ignored", () => {
    given(...failed(), deadLetterIgnored())
      .when(requeueDeadLetter())
      .records(jobRequeued());
  });

  it("is done once, and said again without effect, whatever the reason then", () => {
    given(...failed(), jobRequeued())
      .when(requeueDeadLetter({ reason: "once more" }))
      .recordsNothing();
  });

  it("is refused for a run that was retried by hand since, whether or not that failed as well", () => {
    const refusal = { code: "dead-letter-closed", currentStatus: "retried" } as const;
    given(...failed(), jobRetried())
      .when(requeueDeadLetter())
      .isRefused(refusal);
    given(...failedTwice)
      .when(requeueDeadLetter())
      .isRefused(refusal);
  });

  for (const run of [0, 2]) {
    it(`is refused for run ${run}, which never was`, () => {
      given(...failed())
        .when(requeueDeadLetter({ run }))
        .isRefused({ code: "dead-letter-not-found" });
    });
  }

  for (const [status, history] of each({ ...waiting, processing, paused, completed, cancelled })) {
    it(`is refused while it has not failed: ${status}`, () => {
      given(...history())
        .when(requeueDeadLetter())
        .isRefused({ code: "dead-letter-not-found" });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(requeueDeadLetter()).isRefused({ code: "job-not-found" });
  });
});

describe("a job that was run again as another job", () => {
  const requeued = given(...failed(), jobRequeued());

  it("cannot be retried by hand: the other job mails the remaining recipients", () => {
    requeued.when(retryJob()).isRefused({ code: "job-requeued", currentStatus: "failed" });
  });

  it("is over for workers, and for people", () => {
    requeued.when(startJob()).isRefused({ code: "turn-not-open", currentStatus: "failed" });
    requeued.when(completeJob()).isRefused({ code: "lease-lost", currentStatus: "failed" });
    requeued.when(cancelJob()).isRefused({ code: "job-has-ended", currentStatus: "failed" });
    requeued.when(pauseJob()).isRefused({ code: "job-has-ended", currentStatus: "failed" });
    requeued.when(resumeJob()).isRefused({ code: "job-not-paused", currentStatus: "failed" });
  });
});
