import { expect } from "chai";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import {
  added,
  at,
  counts,
  created,
  end,
  given,
  part,
  pause,
  resume,
  settings,
  started,
  stateAfter,
} from "../support/mailing-story.ts";

const brakes = { ratePerHour: null, rampUp: null, window: null, stopWhen: { failureRate: 0.1, after: 20 } };
const braked: MailingEvent = { ...created, data: { ...settings, brakes } };
const parts: MailingEvent = {
  ...added,
  data: { first: 0, parts: ["one", "two", "three", "four"].map((id) => part(id, 10)) },
};
const ended = (number: number, failed: number): MailingEvent => ({
  type: "MailingPartsEnded",
  at,
  data: { parts: [{ part: number, result: "completed", counts: counts({ sent: 10 - failed, failed }) }] },
});
const endOf = (number: number, failed: number) => end(number, counts({ sent: 10 - failed, failed }));
const stopped = (tried: number, failed: number): MailingEvent => ({
  type: "MailingPaused",
  at,
  data: { reason: `${failed} of ${tried} recipients failed.`, stoppedBy: { tried, failed } },
});
const resumed: MailingEvent = { type: "MailingResumed", at, data: { reason: null } };

describe("A mailing that stops by itself", () => {
  it("does so once too many of enough recipients have failed, and says how many", () => {
    given(braked, parts, started).when(endOf(0, 10)).records(ended(0, 10));
    given(braked, parts, started, ended(0, 2)).when(endOf(1, 0)).records(ended(1, 0));
    given(braked, parts, started, ended(0, 2)).when(endOf(1, 1)).records(ended(1, 1), stopped(20, 3));
    expect(stateAfter(braked, parts, started, ended(0, 2), ended(1, 1), stopped(20, 3))).to.deep.include({
      status: "paused",
      stoppedBy: { tried: 20, failed: 3 },
    });
  });

  it("counts from the start again once people have resumed it", () => {
    const history = [braked, parts, started, ended(0, 9), ended(1, 9), stopped(20, 18), resumed];
    expect(stateAfter(...history)).to.deep.include({ status: "started", stoppedBy: null });
    given(...history)
      .when(endOf(2, 10))
      .records(ended(2, 10));
    const four: MailingEvent = { ...parts, data: { first: 4, parts: [part("five", 10)] } };
    given(braked, parts, four, started, ended(0, 9), ended(1, 9), stopped(20, 18), resumed, ended(2, 3))
      .when(endOf(3, 0))
      .records(ended(3, 0), stopped(20, 3));
  });

  it("is not paused twice, nor when its last part has ended, nor where it has no such limit", () => {
    const people: MailingEvent = { type: "MailingPaused", at, data: { reason: null } };
    given(braked, parts, started, ended(0, 9), people).when(endOf(1, 9)).records(ended(1, 9));
    const decision = given(braked, parts, started, ended(0, 0), ended(1, 0), ended(2, 0)).when(endOf(3, 10));
    decision.records(ended(3, 10), {
      type: "MailingCompleted",
      at,
      data: { result: "completed-with-failures", counts: counts({ total: 40, sent: 30, failed: 10 }) },
    });
    given(created, parts, started, ended(0, 10)).when(endOf(1, 10)).records(ended(1, 10));
    given(braked, parts, started, ended(0, 2), ended(1, 1), stopped(20, 3)).when(pause).records();
    given(braked, parts, started, ended(0, 2), ended(1, 1), stopped(20, 3)).when(resume).records(resumed);
  });

  it("has stopped no more once its last parts end all the same, and is not stopped where it is run again", () => {
    const over: MailingEvent = {
      type: "MailingCompleted",
      at,
      data: { result: "completed-with-failures", counts: counts({ total: 40, sent: 36, failed: 4 }) },
    };
    const history = [braked, parts, started, ended(0, 2), ended(1, 1), stopped(20, 3), ended(2, 1), ended(3, 0), over];
    expect(stateAfter(...history)).to.deep.include({ status: "completed-with-failures", stoppedBy: null });
  });

  describe("and is run again", () => {
    const retried: MailingEvent = {
      type: "MailingRetried",
      at,
      data: { parts: [0, 1], scope: "failed", reason: null },
    };
    const over: MailingEvent = {
      type: "MailingCompleted",
      at,
      data: { result: "completed-with-failures", counts: counts({ total: 40, sent: 22, failed: 18 }) },
    };
    const ends = [ended(0, 9), ended(1, 9), stopped(20, 18), resumed, ended(2, 0), ended(3, 0), over];
    const all = { bounced: 3, complained: 0, sent: 40, upTo: 7 };
    const reported: MailingEvent = { type: "MailingReportsCounted", at, data: all };

    it("counts the failures of the parts that are run again, though it was resumed before", () => {
      const three: MailingEvent = { ...retried, data: { ...retried.data, parts: [0, 1, 2] } };
      given(braked, parts, started, ...ends, three, ended(0, 10))
        .when({
          type: "EndParts",
          at,
          retries: 1,
          parts: [{ part: 1, result: "completed", counts: counts({ failed: 10 }) }],
        })
        .records(ended(1, 10), stopped(20, 20));
    });

    it("does not hold what came back before against the mails that are sent now", () => {
      const bouncing = { ...brakes, stopWhen: { failureRate: null, bounceRate: 0.1, after: 10 } };
      const history = [{ ...created, data: { ...settings, brakes: bouncing } }, parts, started, reported, ...ends];
      // The first of them was counted before.
      const count = (...sequences: readonly number[]) => {
        const reports = [7, ...sequences].map((sequence) => ({ sequence, isComplaint: false }));
        return { type: "CountReports", at, reports, sent: 40 } as const;
      };
      const counted = (bounced: number, upTo: number): MailingEvent => ({
        ...reported,
        data: { ...all, bounced, upTo },
      });
      given(...history, retried)
        .when(count(8, 9))
        .records(counted(5, 9));
      given(...history, retried)
        .when(count(8, 9, 10))
        .records(counted(6, 10), {
          type: "MailingPaused",
          at,
          data: {
            reason: "3 of 20 mails came back for good.",
            stoppedBy: { tried: 20, failed: 3, of: "bounces" },
          },
        });
    });
  });
});
