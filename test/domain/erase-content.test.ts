import {
  eraseContent,
  jobContentErased,
  jobRequeued,
  jobRetried,
  requeueDeadLetter,
  retryJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { cancelled, completed, each, failed, paused, processing, waiting } from "../support/histories.ts";

const left = "b".repeat(64);

describe("erasing what a job has sent", () => {
  it("is recorded with the reason, however the job ended", () => {
    for (const history of [completed(), failed(), cancelled()]) {
      given(...history)
        .when(eraseContent({ reason: "asked for" }))
        .records(jobContentErased({ reason: "asked for" }));
    }
  });

  it("is refused as long as a recipient may still be mailed", () => {
    for (const [status, history] of each({ ...waiting, processing, paused })) {
      given(...history())
        .when(eraseContent())
        .isRefused({ code: "job-has-not-ended", currentStatus: status });
    }
  });

  it("is done once, and said again without effect", () => {
    given(...completed(), jobContentErased())
      .when(eraseContent({ reason: "as I said" }))
      .recordsNothing();
    given(...completed(), jobContentErased())
      .when(eraseContent({ recipients: [0], contentSha256: left }))
      .recordsNothing();
  });

  it("leaves nothing that could be sent again", () => {
    given(...failed(), jobContentErased())
      .when(retryJob())
      .isRefused({ code: "content-erased", currentStatus: "failed" });
    given(...failed(), jobContentErased())
      .when(requeueDeadLetter())
      .isRefused({ code: "content-erased", currentStatus: "failed" });
    given(...failed(), jobRequeued(), jobContentErased())
      .when(requeueDeadLetter())
      .recordsNothing();
  });

  it("of one recipient names only whom no one has named before, and forbids no retry", () => {
    const erasedFirst = jobContentErased({ recipients: [0], contentSha256: left });
    given(...failed(), erasedFirst)
      .when(eraseContent({ recipients: [0], contentSha256: left }))
      .recordsNothing();
    given(...failed(), erasedFirst)
      .when(eraseContent({ recipients: [0, 2], contentSha256: "c".repeat(64) }))
      .records(jobContentErased({ recipients: [2], contentSha256: "c".repeat(64) }));
    given(...failed(), erasedFirst)
      .when(retryJob())
      .records(jobRetried());
  });

  it("takes a job out of the lists also after its content was erased, once", () => {
    given(...completed(), jobContentErased())
      .when(eraseContent({ isRetired: true }))
      .records(jobContentErased({ isRetired: true }));
    given(...completed(), jobContentErased({ isRetired: true }))
      .when(eraseContent({ isRetired: true }))
      .recordsNothing();
  });
});
