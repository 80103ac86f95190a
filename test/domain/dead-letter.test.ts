import { expect } from "chai";
import { createDeadLetter, decideDeadLetter, runDecidedAbout } from "../../src/domain/job/dead-letter.ts";
import { recipientsToTakeUp } from "../../src/domain/recipients/ledger.ts";
import * as example from "../support/examples.ts";
import { viewOf } from "../support/job-views.ts";

const { counts, deadLetterIgnored, earlier, jobFailed, jobRequeued, jobRetried, later, now, tooManyFailures } = example;

const letter = createDeadLetter(jobFailed({ attempt: 4 }), 3);

describe("a dead letter", () => {
  it("says which run failed, on which attempt, why, and how far it had come", () => {
    expect(letter).to.deep.equal({
      run: 1,
      attempt: 4,
      error: tooManyFailures,
      progress: counts({ sent: 1, failed: 2 }),
      failedAt: now,
      status: "open",
      requeuedAs: null,
      reason: null,
      decidedBy: null,
      decidedAt: null,
    });
  });

  it("of a job that expired says that no mail was sent", () => {
    const { progress } = createDeadLetter(jobFailed({ counts: null }), 3);
    expect(progress).to.deep.equal(counts({ pending: 3 }));
  });

  for (const [status, event, requeuedAs] of [
    ["requeued", jobRequeued({ reason: "it is back" }, later), "the-new-job"],
    ["ignored", deadLetterIgnored({ reason: "it is back" }, later), null],
    ["retried", jobRetried({ reason: "it is back" }, later), null],
  ] as const) {
    it(`that was ${status} says why, by whom and when`, () => {
      expect(runDecidedAbout(event)).to.equal(1);
      expect(decideDeadLetter(letter, event, "key:7")).to.deep.equal({
        ...letter,
        status,
        requeuedAs,
        reason: "it is back",
        decidedBy: "key:7",
        decidedAt: later,
      });
    });
  }
});

describe("the recipients of a failed job that another job may mail", () => {
  const { recipientSent, recipientFailed, recipientUnknown, recipientsClaimed, recipientDeferred } = example;
  const created = example.jobCreated({ total: 6 }, earlier);
  const history = [
    created,
    example.jobStarted(),
    recipientsClaimed({ recipients: [0, 1, 2, 3, 4] }),
    recipientSent({ recipient: 0 }),
    recipientFailed({ recipient: 1 }),
    recipientUnknown({ recipient: 2 }),
    recipientDeferred({ recipient: 3 }),
    jobFailed(),
  ];

  it("are the recipients not sent, and those in doubt where the job resends them", () => {
    expect(recipientsToTakeUp(viewOf(...history).ledger, "resend")).to.deep.equal([1, 2, 3, 4, 5]);
    expect(recipientsToTakeUp(viewOf(...history).ledger, "skip")).to.deep.equal([1, 3, 5]);
  });

  it("are none whose mail left after all", () => {
    const late = [recipientSent({ recipient: 1 }), recipientSent({ recipient: 2 })];
    expect(recipientsToTakeUp(viewOf(...history, ...late).ledger, "resend")).to.deep.equal([3, 4, 5]);
  });
});
