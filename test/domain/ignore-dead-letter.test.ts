import {
  deadLetterIgnored,
  ignoreDeadLetter,
  jobFailed,
  jobRequeued,
  jobRetried,
  jobStarted,
  retryJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, waiting } from "../support/histories.ts";

describe("setting a dead letter aside", () => {
  it("keeps the reason", () => {
    given(...failed())
      .when(ignoreDeadLetter({ reason: "the sale is over" }))
      .records(deadLetterIgnored({ reason: "the sale is over" }));
  });

  it("is done once, and said again without effect", () => {
    given(...failed(), deadLetterIgnored())
      .when(ignoreDeadLetter({ reason: "as I said" }))
      .recordsNothing();
  });

  it("does not forbid to retry the job by hand, and the next run that fails leaves an open one", () => {
    given(...failed(), deadLetterIgnored())
      .when(retryJob())
      .records(jobRetried());
    given(...failed(), deadLetterIgnored(), jobRetried(), jobStarted({ run: 2 }), jobFailed({ run: 2 }))
      .when(ignoreDeadLetter({ run: 2 }))
      .records(deadLetterIgnored({ run: 2 }));
  });

  it("is refused once the job was run again as another job", () => {
    given(...failed(), jobRequeued())
      .when(ignoreDeadLetter())
      .isRefused({ code: "dead-letter-closed", currentStatus: "requeued" });
    given(...failed(), deadLetterIgnored(), jobRequeued())
      .when(ignoreDeadLetter())
      .isRefused({ code: "dead-letter-closed", currentStatus: "requeued" });
  });

  it("is refused once the job was retried by hand", () => {
    given(...failed(), jobRetried())
      .when(ignoreDeadLetter())
      .isRefused({ code: "dead-letter-closed", currentStatus: "retried" });
  });

  for (const [status, history] of each({ ...waiting, processing, paused, completed, cancelled })) {
    it(`is refused while the job has not failed: ${status}`, () => {
      given(...history())
        .when(ignoreDeadLetter())
        .isRefused({ code: "dead-letter-not-found" });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(ignoreDeadLetter()).isRefused({ code: "job-not-found" });
  });
});
