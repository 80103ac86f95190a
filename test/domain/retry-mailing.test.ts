import { expect } from "chai";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import { mailingDecider } from "../../src/domain/mailing/decider.ts";
import type { EndedPart, MailingEvent } from "../../src/domain/mailing/events.ts";
import type { MailingState } from "../../src/domain/mailing/state.ts";
import { chanceOf } from "../support/chance-of.ts";
import {
  add,
  added,
  at,
  cancel,
  cancelled,
  counts,
  created,
  given,
  later,
  pause,
  resume,
  start,
  started,
  stateAfter,
} from "../support/mailing-story.ts";

const good: EndedPart = { part: 0, result: "completed", counts: counts({ sent: 10 }) };
const bad: EndedPart = { part: 1, result: "failed", counts: counts({ failed: 8, sent: 2 }) };
const better: EndedPart = { part: 1, result: "completed", counts: counts({ sent: 10 }) };
const ended = (...parts: readonly EndedPart[]): MailingEvent => ({ type: "MailingPartsEnded", at, data: { parts } });
const over = (result: "completed" | "completed-with-failures" | "failed", of: object): MailingEvent => ({
  type: "MailingCompleted",
  at,
  data: { result, counts: counts({ total: 20, ...of }) },
});
const failures: readonly MailingEvent[] = [
  created,
  added,
  started,
  ended(good, bad),
  over("completed-with-failures", { sent: 12, failed: 8 }),
];
const retry: MailingCommand = { type: "RetryMailing", at, scope: "unsent", reason: "the mail server is back" };
const retried: MailingEvent = {
  type: "MailingRetried",
  at,
  data: { parts: [1], scope: "unsent", reason: "the mail server is back" },
};
const endOf = (retries: number, ...parts: readonly EndedPart[]): MailingCommand => ({
  type: "EndParts",
  at,
  parts,
  retries,
});

describe("a mailing that is run again", () => {
  it("opens those of its parts again whose jobs have failed", () => {
    given(...failures)
      .when(retry)
      .records(retried);
    const state = stateAfter(...failures, retried);
    expect(state).to.deep.include({ status: "started", endedAt: null, retries: 1, retryScope: "unsent" });
    const results = state.status === "absent" ? [] : state.parts.map(({ result }) => result);
    expect(results).to.deep.equal(["completed", null]);
  });

  it("opens those again that completed without some recipients, too", () => {
    for (const left of [{ failed: 1 }, { unknown: 1 }, { pending: 1 }]) {
      const nearly: EndedPart = { ...good, counts: counts({ sent: 9, ...left }) };
      given(created, added, started, ended(nearly, better), over("completed-with-failures", { sent: 19, ...left }))
        .when(retry)
        .records({ ...retried, data: { parts: [0], scope: "unsent", reason: "the mail server is back" } });
    }
  });

  it("has ended, with a failed part, and its parts can be read", () => {
    given(created, added, started).when(retry).isRefused({ code: "mailing-has-not-ended" });
    given(created, added).when(retry).isRefused({ code: "mailing-has-not-ended" });
    given(...failures, retried)
      .when(retry)
      .isRefused({ code: "mailing-has-not-ended" });
    given(created, added, started, cancelled).when(retry).isRefused({ code: "mailing-has-not-failed" });
    given(created, added, started, ended(bad), cancelled).when(retry).isRefused({ code: "mailing-has-not-failed" });
    given(created, added, started, ended(good, better), over("completed", { sent: 20 }))
      .when(retry)
      .isRefused({ code: "mailing-has-not-failed" });
    const erased: MailingEvent = { type: "MailingContentErased", at: later, data: { reason: "retention" } };
    given(...failures, erased)
      .when(retry)
      .isRefused({ code: "mailing-not-found" });
  });

  it("ends again with what its parts come to, and can be run again as often as a part fails", () => {
    given(...failures, retried)
      .when(endOf(1, better))
      .records(ended(better), over("completed", { sent: 20 }));
    const again = [...failures, retried, ended(bad), over("completed-with-failures", { sent: 12, failed: 8 })];
    given(...again)
      .when(retry)
      .records(retried);
  });

  it("does not take an end from before the retry for one of after it", () => {
    given(...failures, retried)
      .when(endOf(0, bad))
      .records();
    given(...failures)
      .when(endOf(0, better))
      .records();
  });

  it("is paused, resumed and cancelled, but is no draft any more", () => {
    given(...failures, retried)
      .when(cancel)
      .records(cancelled);
    const paused: MailingEvent = { type: "MailingPaused", at, data: { reason: null } };
    given(...failures, retried)
      .when(pause)
      .records(paused);
    given(...failures, retried)
      .when(add)
      .isRefused({ code: "mailing-has-started" });
    given(...failures, retried)
      .when({ type: "UndoMailing", at, reason: null })
      .isRefused({ code: "undo-time-over" });
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`ends once for each time that it was opened, with the counts of its parts (seed ${seed})`, () => {
      const chance = chanceOf(seed);
      let all = 0;
      for (let history = 0; history < 30; history += 1) {
        let state: MailingState = stateAfter(created, added);
        let [ends, retries] = [0, 0];
        for (let step = 0; step < 300; step += 1) {
          const sent = chance(11);
          const one: EndedPart = {
            part: chance(2),
            result: sent < 8 ? "failed" : "completed",
            counts: counts({ sent, failed: 10 - sent }),
          };
          const known = state.status === "absent" ? 0 : state.retries;
          const commands: readonly MailingCommand[] = [
            start(),
            pause,
            resume,
            retry,
            endOf(known, one),
            endOf(Math.max(0, known - 1), one),
          ];
          const decision = mailingDecider.decide(commands[chance(commands.length)] as MailingCommand, state);
          if (decision.outcome === "rejected") continue;
          for (const event of decision.events) {
            state = mailingDecider.evolve(state, event);
            if (event.type === "MailingRetried") retries += 1;
            if (event.type !== "MailingCompleted" || state.status === "absent") continue;
            ends += 1;
            expect(ends).to.equal(retries + 1);
            const sum = state.parts.reduce((sent, { counts: own }) => sent + (own?.sent ?? Number.NaN), 0);
            expect(event.data.counts.sent).to.equal(sum);
          }
        }
        all += retries;
      }
      expect(all).to.be.greaterThan(10);
    });
  }
});
