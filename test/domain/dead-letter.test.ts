import { expect } from "chai";
import {
  causeOf,
  createDeadLetter,
  decideDeadLetter,
  noReplies,
  noteReply,
  runDecidedAbout,
} from "../../src/domain/job/dead-letter.ts";
import { recipientsToTakeUp } from "../../src/domain/recipients/ledger.ts";
import * as example from "../support/examples.ts";
import { viewOf } from "../support/job-views.ts";

const {
  counts,
  deadLetterIgnored,
  earlier,
  jobFailed,
  jobRequeued,
  jobRetried,
  later,
  now,
  recipientFailed,
  tooManyFailures,
} = example;

const letter = createDeadLetter(jobFailed({ attempt: 4 }), 3, noReplies);

describe("a dead letter", () => {
  it("says which run failed, on which attempt, why, and how far it had come", () => {
    expect(letter).to.deep.equal({
      run: 1,
      attempt: 4,
      error: tooManyFailures,
      reply: null,
      cause: tooManyFailures.message,
      progress: counts({ sent: 1, failed: 2 }),
      failedAt: now,
      status: "open",
      requeuedAs: null,
      reason: null,
      decidedBy: null,
      decidedAt: null,
    });
  });

  const refused = (message: string, run = 1) =>
    recipientFailed({ run, error: { code: "rejected", message, replyCode: 554, statusCode: null } });

  it("has the words that mail servers said most often of the recipients that failed", () => {
    const said = ["550 no such user", "554 5.7.1 not today", "554 5.7.1 not today"].map((words) => refused(words));
    const { reply, cause } = createDeadLetter(jobFailed(), 3, said.reduce(noteReply, noReplies));
    expect({ reply, cause }).to.deep.equal({ reply: "554 5.7.1 not today", cause: "554 5.7.1 not today" });
  });

  it("has none of an earlier run", () => {
    const replies = [refused("550 no such user"), refused("554 not today", 2)].reduce(noteReply, noReplies);
    expect(createDeadLetter(jobFailed({ run: 2 }), 3, replies).reply).to.equal("554 not today");
    expect(createDeadLetter(jobFailed({ run: 3 }), 3, replies).reply).to.equal(null);
  });

  it("keeps few of the words of a server that says something else of everyone", () => {
    const said = Array.from({ length: 100 }, (_, index) => refused(`554 number ${index} ${"x".repeat(600)}`));
    const replies = [...said, refused("554 the same"), refused("554 the same")].reduce(noteReply, noReplies);
    expect(replies.said).to.have.length(20);
    expect(replies.said[0]?.[0]).to.have.length(500);
  });

  it("has a cause without what is of one mail alone", () => {
    expect(causeOf("550-5.1.1 unknown user 4fb4d7f45d1cf-5b8d8e2 - gsmtp")).to.equal(
      "550-5.1.1 unknown user … - gsmtp",
    );
    expect(causeOf("554 5.7.1 refused (in reply to 2026112109301234)")).to.equal("554 5.7.1 refused (in reply to …)");
    expect(causeOf("The job was not to start after 2026-11-24T10:41:12.176Z.")).to.equal(
      "The job was not to start after ….",
    );
    expect(causeOf("451 4.7.1 try again after 10:41:12 +0000")).to.equal("451 4.7.1 try again after … +0000");
    expect(causeOf("450 4.2.0 greylisted, see https://example.com/grey")).to.equal(
      "450 4.2.0 greylisted, see https://example.com/grey",
    );
    expect(causeOf("x".repeat(300))).to.have.length(200);
  });

  it("of a job that expired says that no mail was sent", () => {
    const { progress } = createDeadLetter(jobFailed({ counts: null }), 3, noReplies);
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
