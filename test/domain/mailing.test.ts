import { expect } from "chai";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import { resultOf } from "../../src/domain/mailing/counts.ts";
import { mailingDecider } from "../../src/domain/mailing/decider.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import { chanceOf } from "../support/chance-of.ts";
import {
  add,
  added,
  at,
  cancel,
  cancelled,
  counts,
  created,
  end,
  given,
  later,
  part,
  pause,
  paused,
  resume,
  retire,
  settings,
  sha,
  start,
  started,
} from "../support/mailing-story.ts";

describe("a mailing", () => {
  it("is created once, and a repeated request is told from another one", () => {
    const create = (requestSha256: string | null): MailingCommand => ({
      type: "CreateMailing",
      at,
      settings: { ...settings, requestSha256 },
    });
    given().when(create(null)).records(created);
    const keyed: MailingEvent = { ...created, data: { ...settings, requestSha256: sha("c") } };
    given(keyed)
      .when(create(sha("c")))
      .records();
    given(keyed)
      .when(create(sha("d")))
      .isRefused({ code: "idempotency-key-reused" });
  });

  it("takes recipients as long as it is a draft", () => {
    given(created, added)
      .when(add)
      .records({ type: "MailingPartsAdded", at, data: { first: 2, parts: [part("three")] } });
    given(created, added, started).when(add).isRefused({ code: "mailing-has-started" });
    given(created, cancelled).when(add).isRefused({ code: "mailing-has-ended" });
    given().when(add).isRefused({ code: "mailing-not-found" });
  });

  it("takes 20,000 parts and no more", () => {
    const parts = (count: number) => Array.from({ length: count }, (_, index) => part(`part-${index}`));
    const full: MailingEvent = { type: "MailingPartsAdded", at, data: { first: 0, parts: parts(19_999) } };
    given(created, full)
      .when({ type: "AddParts", at, parts: parts(1) })
      .records({ type: "MailingPartsAdded", at, data: { first: 19_999, parts: parts(1) } });
    given(created, full)
      .when({ type: "AddParts", at, parts: parts(2) })
      .isRefused({ code: "mailing-is-full" });
  });

  it("abandons a part that was never added, and none that was", () => {
    given(created, added)
      .when({ type: "AbandonPart", at, jobId: "three" })
      .records({ type: "MailingPartAbandoned", at, data: { jobId: "three" } });
    given(created, added).when({ type: "AbandonPart", at, jobId: "two" }).records();
    given(created, added, started).when({ type: "AbandonPart", at, jobId: "three" }).records();
  });

  it("is not created any more once its letter was erased", () => {
    const abandoned: MailingEvent = { type: "MailingContentErased", at, data: { reason: null } };
    given().when({ type: "AbandonMailing", at, reason: null }).records(abandoned);
    given(abandoned).when({ type: "CreateMailing", at, settings }).isRefused({ code: "mailing-not-found" });
    given(created).when({ type: "AbandonMailing", at, reason: null }).records();
  });

  it("is forgotten once there was nothing to do for it for long enough, a draft from when it was touched last", () => {
    const erased: MailingEvent = { type: "MailingContentErased", at: later, data: { reason: "retention" } };
    const over: MailingEvent = { type: "MailingCancelled", at: later, data: { reason: "retention" } };
    given(created).when(retire).records(over, erased);
    given(created, added).when(retire).records(over, erased);
    given(created, { ...added, at: later } as MailingEvent)
      .when(retire)
      .records();
    given(created, added, started).when(retire).records();
    given(created, added, started, paused).when(retire).records();
    given(created, added, started, cancelled).when(retire).records(erased);
    given(created, added, started, { ...cancelled, at: later } as MailingEvent)
      .when(retire)
      .records();
    given(created, cancelled, erased).when(retire).records();
    given().when(retire).isRefused({ code: "mailing-not-found" });
  });

  it("starts with all of its recipients, now or at a time", () => {
    given(created, added).when(start()).records(started);
    given(created, added).when(start("2026-11-20T00:00:00.000Z")).records(started);
    const scheduled: MailingEvent = {
      type: "MailingStarted",
      at,
      data: { parts: 2, recipients: 1500, scheduledAt: later, undoUntil: null },
    };
    given(created, added).when(start(later)).records(scheduled);
    given(created).when(start()).isRefused({ code: "mailing-is-empty" });
    given(created, added, started).when(start()).records();
    given(created, added, scheduled).when(start(later)).records();
    given(created, added, started).when(start(later)).isRefused({ code: "mailing-has-started" });
    given({ ...created, data: { ...settings, notAfter: at } }, added)
      .when(start(later))
      .isRefused({ code: "scheduled-too-late" });
  });

  it("is paused, resumed and cancelled where its status allows it", () => {
    given(created, added, started).when(pause).records(paused);
    given(created, added, started, paused).when(pause).records();
    given(created, added).when(pause).isRefused({ code: "mailing-not-started" });
    given(created, added, started, paused)
      .when(resume)
      .records({ type: "MailingResumed", at, data: { reason: null } });
    given(created, added, started).when(resume).isRefused({ code: "mailing-not-paused" });
    given(created).when(cancel).records(cancelled);
    given(created, added, started, paused).when(cancel).records(cancelled);
    given(created, cancelled).when(cancel).isRefused({ code: "mailing-has-ended" });
    given(created, added, started, cancelled).when(start()).isRefused({ code: "mailing-has-ended" });
  });

  it("ends with its last part, in whatever order they end and however often that is said", () => {
    const [one, two] = [counts({ sent: 9, failed: 1 }), counts({ sent: 10 })];
    const firstEnd: MailingEvent = {
      type: "MailingPartsEnded",
      at,
      data: { parts: [{ part: 1, result: "completed", counts: two }] },
    };
    given(created, added, started).when(end(1, two)).records(firstEnd);
    given(created, added, started, firstEnd).when(end(1, two)).records();
    const lastEnd: MailingEvent = {
      type: "MailingPartsEnded",
      at,
      data: { parts: [{ part: 0, result: "completed", counts: one }] },
    };
    const completed: MailingEvent = {
      type: "MailingCompleted",
      at,
      data: { result: "completed-with-failures", counts: counts({ total: 20, sent: 19, failed: 1 }) },
    };
    given(created, added, started, firstEnd).when(end(0, one)).records(lastEnd, completed);
    const ended = [created, added, started, firstEnd, lastEnd, completed] as const;
    given(...ended)
      .when(end(0, two))
      .records();
    given(...ended)
      .when(start())
      .records();
    given(...ended)
      .when(start(later))
      .isRefused({ code: "mailing-has-ended" });
    given(created, added, started, cancelled).when(end(0, one)).records();
  });

  it("says honestly how it ended", () => {
    expect(resultOf(counts({ sent: 10 }))).to.equal("completed");
    expect(resultOf(counts({ sent: 8, suppressed: 2 }))).to.equal("completed");
    expect(resultOf(counts({ sent: 9, deferred: 1 }))).to.equal("completed-with-failures");
    expect(resultOf(counts({ sent: 9, unknown: 1 }))).to.equal("completed-with-failures");
    expect(resultOf(counts({ sent: 5, failed: 5 }))).to.equal("completed-with-failures");
    expect(resultOf(counts({ sent: 4, failed: 6 }))).to.equal("failed");
    expect(resultOf(counts({ pending: 10 }))).to.equal("failed");
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`keeps its laws in any history (seed ${seed})`, () => {
      const chance = chanceOf(seed);
      let state = mailingDecider.initialState;
      let ends = 0;
      for (let step = 0; step < 400; step += 1) {
        const commands: readonly MailingCommand[] = [
          { type: "CreateMailing", at, settings },
          { type: "AddParts", at, parts: [part(`part-${step}`)] },
          start(),
          pause,
          resume,
          chance(40) === 0 ? cancel : pause,
          end(chance(8), counts({ sent: chance(11) })),
        ];
        const before = state;
        const decision = mailingDecider.decide(commands[chance(commands.length)] as MailingCommand, state);
        if (decision.outcome === "rejected") continue;
        state = decision.events.reduce(mailingDecider.evolve, state);
        ends += decision.events.filter(({ type }) => type === "MailingCompleted" || type === "MailingCancelled").length;
        if (before.status === "absent" || state.status === "absent") continue;
        const wasDraft = before.status === "draft";
        if (!wasDraft) expect(state.parts.length, "parts after the start").to.equal(before.parts.length);
        if (before.endedAt !== null) expect(state, "after the end").to.deep.equal(before);
      }
      expect(ends).to.be.at.most(1);
    });
  }
});
