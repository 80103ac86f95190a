import { createHash } from "node:crypto";
import { expect } from "chai";
import { digestToApprove } from "../../src/domain/mailing/approval.ts";
import type { ApprovalTerms, MailingCommand } from "../../src/domain/mailing/commands.ts";
import { mailingDecider } from "../../src/domain/mailing/decider.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import type { MailingState } from "../../src/domain/mailing/state.ts";
import { chanceOf } from "../support/chance-of.ts";
import {
  add,
  added,
  at,
  cancel,
  cancelled,
  created,
  end,
  given,
  later,
  part,
  pause,
  retire,
  settings,
  sha,
  start,
  started,
  stateAfter,
} from "../support/mailing-story.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const parts = [part("one"), part("two", 500)];
const careful = { ...created, data: { ...settings, needsApproval: true } };
const digest = digestToApprove({ settings: careful.data, parts }, null, sha256);
const [asker, boss] = ["key:asker", "key:boss"];

const ask = (by = asker, above: number | null = null, scheduledAt: string | null = null): MailingCommand => {
  const terms: ApprovalTerms = { by, above, sha256 };
  return { type: "StartMailing", at, scheduledAt, terms };
};
const asked: MailingEvent = {
  type: "MailingApprovalRequested",
  at,
  data: { digest, parts: 2, recipients: 1500, scheduledAt: null, requestedBy: asker },
};
const approved: MailingEvent = { type: "MailingApproved", at, data: { digest, approvedBy: boss } };
const rejected: MailingEvent = {
  type: "MailingRejected",
  at,
  data: { digest, rejectedBy: boss, reason: "the price is wrong" },
};
const approve = (by = boss, of = digest): MailingCommand => ({ type: "ApproveMailing", at, by, digest: of });
const reject = (by = boss): MailingCommand => ({ type: "RejectMailing", at, by, reason: "the price is wrong" });

describe("a mailing that needs an approval", () => {
  it("does not start when that is asked, but awaits approval", () => {
    given(careful, added).when(ask()).records(asked);
    given(careful, added, asked).when(ask()).records();
    given(careful, added, asked)
      .when(ask(asker, null, later))
      .isRefused({ code: "mailing-awaits-approval" });
    given(careful, added, asked).when(add).isRefused({ code: "mailing-awaits-approval" });
    given(careful, added, asked).when(pause).isRefused({ code: "mailing-awaits-approval" });
    given(careful, added, asked).when({ type: "UndoMailing", at, reason: null }).isRefused({
      code: "mailing-awaits-approval",
    });
    given(careful).when(ask()).isRefused({ code: "mailing-is-empty" });
  });

  it("can be asked for again with the same time once that has come, as long as nobody has decided", () => {
    const timed = { ...asked, data: { ...asked.data, scheduledAt: later } };
    given(careful, added, timed)
      .when({ ...ask(asker, null, later), at: "2026-11-22T12:00:00.000Z" })
      .records();
  });

  it("is one with more recipients than a limit, too, and no other", () => {
    given(created, added).when(ask(asker, 1500)).records(started);
    const ofPlain = digestToApprove({ settings, parts }, null, sha256);
    given(created, added)
      .when(ask(asker, 1499))
      .records({ ...asked, data: { ...asked.data, digest: ofPlain } });
  });

  it("needs keys, which tell callers apart", () => {
    given(careful, added).when(ask("anonymous")).isRefused({ code: "approval-needs-keys" });
    given(careful, added).when(start()).isRefused({ code: "approval-needs-keys" });
    given(created, added).when(ask("anonymous", 10)).isRefused({ code: "approval-needs-keys" });
    given(careful, added, asked).when(approve("anonymous")).isRefused({ code: "approval-needs-keys" });
    given(created, added).when(ask("anonymous")).records(started);
  });

  it("starts with its approval, as it was asked for", () => {
    given(careful, added, asked).when(approve()).records(approved, started);
    given(careful, added, asked, approved, started).when(approve()).records();
    const timed = digestToApprove({ settings: careful.data, parts }, later, sha256);
    given(careful, added, { ...asked, data: { ...asked.data, digest: timed, scheduledAt: later } })
      .when(approve(boss, timed))
      .records(
        { ...approved, data: { digest: timed, approvedBy: boss } },
        { ...started, data: { ...started.data, scheduledAt: later } },
      );
  });

  it("counts the time to take it back from the approval", () => {
    const both = { ...careful, data: { ...careful.data, undoForMs: 60_000 } };
    given(both, added, asked)
      .when({ ...approve(), at: later })
      .records(
        { ...approved, at: later },
        { ...started, at: later, data: { ...started.data, undoUntil: "2026-11-21T12:01:00.000Z" } },
      );
  });

  it("is decided by another key than the one that asked, which names what it has seen", () => {
    given(careful, added, asked).when(approve(asker)).isRefused({ code: "approval-needs-another-key" });
    given(careful, added, asked).when(reject(asker)).isRefused({ code: "approval-needs-another-key" });
    given(careful, added, asked)
      .when(approve(boss, sha("e")))
      .isRefused({ code: "approval-digest-differs", digest });
    given(careful, added).when(approve()).isRefused({ code: "mailing-not-awaiting-approval" });
    given(careful, added, asked, cancelled).when(approve()).isRefused({ code: "mailing-not-awaiting-approval" });
    given(created, added, started).when(reject()).isRefused({ code: "mailing-not-awaiting-approval" });
  });

  it("is a draft again after a rejection, which shows why, and asks again when it starts again", () => {
    given(careful, added, asked).when(reject()).records(rejected);
    given(careful, added, asked, rejected).when(reject()).records();
    const state = stateAfter(careful, added, asked, rejected);
    expect(state).to.deep.include({ status: "draft" });
    expect(state.status === "absent" ? null : state.approval).to.deep.include({
      status: "rejected",
      requestedBy: asker,
      decidedBy: boss,
      reason: "the price is wrong",
    });
    given(careful, added, asked, rejected).when(ask()).records(asked);
  });

  it("asks again after an undo, too, under another digest where it was changed", () => {
    const undone: MailingEvent = { type: "MailingUndone", at, data: { reason: null } };
    const until: MailingEvent = { ...started, data: { ...started.data, undoUntil: later } };
    const history = [careful, added, asked, approved, until, undone];
    given(...history)
      .when(ask())
      .records(asked);
    const more: MailingEvent = { type: "MailingPartsAdded", at, data: { first: 2, parts: [part("three")] } };
    const other = digestToApprove({ settings: careful.data, parts: [...parts, part("three")] }, null, sha256);
    expect(other).not.to.equal(digest);
    given(...history, more)
      .when(ask())
      .records({ ...asked, data: { ...asked.data, digest: other, parts: 3, recipients: 2500 } });
    given(...history, more, { ...asked, data: { ...asked.data, digest: other } })
      .when(approve())
      .isRefused({ code: "approval-digest-differs" });
  });

  it("has another digest for another letter, setting, time or recipient", () => {
    const of = (change: object, time: string | null = null, some = parts): string =>
      digestToApprove({ settings: { ...careful.data, ...change }, parts: some }, time, sha256);
    const digests = [
      of({}),
      of({ contentSha256: sha("e") }),
      of({ priority: "high" }),
      of({}, later),
      of({}, null, [part("one"), { ...part("two", 500), contentSha256: sha("e") }]),
      of({}, null, [part("two", 500), part("one")]),
    ];
    expect(new Set(digests).size).to.equal(digests.length);
    expect(of({})).to.equal(digest);
  });

  it("can be cancelled, and is forgotten where nobody decides for long enough", () => {
    given(careful, added, asked).when(cancel).records(cancelled);
    given(careful, added, asked)
      .when(retire)
      .records(
        { type: "MailingCancelled", at: later, data: { reason: "retention" } },
        { type: "MailingContentErased", at: later, data: { reason: "retention" } },
      );
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`never starts without an approval by another one, of exactly what it is (seed ${seed})`, () => {
      const chance = chanceOf(seed);
      let starts = 0;
      let changes = 0;
      for (let history = 0; history < 60; history += 1) {
        let state: MailingState = stateAfter({ ...careful, data: { ...careful.data, undoForMs: 60_000 } }, added);
        for (let step = 0; step < 60; step += 1) {
          const before = state;
          const shown = before.status === "absent" ? null : before.approval;
          const someone = [asker, boss, "key:third", "anonymous"][chance(4)] as string;
          const commands: readonly MailingCommand[] = [
            ask(someone),
            start(),
            approve(someone, chance(3) === 0 ? sha("e") : (shown?.digest ?? digest)),
            reject(someone),
            { type: "AddParts", at, parts: [part(`part-${step}`)] },
            { type: "UndoMailing", at, reason: null },
            end(chance(3), { total: 10, sent: 10, failed: 0, pending: 0, deferred: 0, unknown: 0, suppressed: 0 }),
          ];
          const decision = mailingDecider.decide(commands[chance(commands.length)] as MailingCommand, before);
          if (decision.outcome === "rejected") continue;
          state = decision.events.reduce<MailingState>(mailingDecider.evolve, before);
          if (before.status === "absent" || decision.events.length === 0) continue;
          if (before.status === "awaiting-approval") {
            const { type } = decision.events[0] as MailingEvent;
            expect(["MailingApproved", "MailingRejected"]).to.include(type);
          }
          if (decision.events.some(({ type }) => type === "MailingPartsAdded")) changes += 1;
          if (!decision.events.some(({ type }) => type === "MailingStarted")) continue;
          starts += 1;
          const { approval, ...is } = state.status === "absent" ? stateOfNothing() : state;
          expect(approval?.status).to.equal("approved");
          expect(approval?.decidedBy).to.match(/^key:/).and.not.equal(approval?.requestedBy);
          expect(approval?.digest).to.equal(digestToApprove(is, approval?.scheduledAt ?? null, sha256));
        }
      }
      expect(Math.min(starts, changes)).to.be.greaterThan(20);
    });
  }
});

function stateOfNothing(): never {
  throw new Error("There is a mailing.");
}
