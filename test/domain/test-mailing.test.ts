import { expect } from "chai";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import { maxTests } from "../../src/domain/mailing/tests.ts";
import { add, added, at, cancelled, created, given, part, started, stateAfter } from "../support/mailing-story.ts";

const test: MailingCommand = { type: "TestMailing", at, jobId: "test-1", recipients: 2 };
const tested: MailingEvent = { type: "MailingTested", at, data: { jobId: "test-1", recipients: 2 } };
const asked: MailingEvent = {
  type: "MailingApprovalRequested",
  at,
  data: { digest: "d", parts: 2, recipients: 1500, scheduledAt: null, requestedBy: "key:asker" },
};

describe("a mailing that is tested", () => {
  it("names the job of the test, once, as long as it has not started", () => {
    given(created).when(test).records(tested);
    given(created, added, asked).when(test).records(tested);
    given(created, tested).when(test).records();
    given(created, added, tested, started).when(test).records();
    given(created, added, started).when(test).isRefused({ code: "mailing-has-started" });
    given(created, cancelled).when(test).isRefused({ code: "mailing-has-ended" });
    given().when(test).isRefused({ code: "mailing-not-found" });
  });

  it("has its recipients and its status as before", () => {
    given(created, tested)
      .when(add)
      .records({ type: "MailingPartsAdded", at, data: { first: 0, parts: [part("three")] } });
    const [before, after] = [stateAfter(created, added, asked), stateAfter(created, added, asked, tested)];
    if (before.status === "absent" || after.status === "absent") throw new Error("There is a mailing.");
    expect(after).to.deep.equal({ ...before, tests: [{ jobId: "test-1", recipients: 2, testedAt: at }] });
  });

  it("is not tested for ever", () => {
    const many = Array.from(
      { length: maxTests },
      (_, index): MailingEvent => ({ ...tested, data: { jobId: `test-${index}`, recipients: 1 } }) as MailingEvent,
    );
    given(created, ...many.slice(2))
      .when(test)
      .records(tested);
    given(created, ...many)
      .when({ ...test, jobId: "another" } as MailingCommand)
      .isRefused({ code: "too-many-mailing-tests" });
  });
});
