import { expect } from "chai";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
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
  counts,
  created,
  end,
  given,
  part,
  pause,
  paused,
  resume,
  settings,
  start,
  started,
} from "../support/mailing-story.ts";

const undoFor = { ...created, data: { ...settings, undoForMs: 60_000 } };
const undoUntil = "2026-11-21T09:31:00.000Z";
const justBefore = "2026-11-21T09:30:59.999Z";
const waiting = { ...started, data: { ...started.data, undoUntil } };
const undone: MailingEvent = { type: "MailingUndone", at, data: { reason: null } };
const released: MailingEvent = { type: "MailingReleased", at: undoUntil, data: { parts: 2 } };
const undo = (when = at): MailingCommand => ({ type: "UndoMailing", at: when, reason: null });
const release = (when: string): MailingCommand => ({ type: "ReleaseMailing", at: when });

describe("a mailing whose start can be taken back", () => {
  it("waits for so long after its start, or until its time if that is later", () => {
    given(undoFor, added).when(start()).records(waiting);
    const soon = "2026-11-21T09:30:30.000Z";
    given(undoFor, added)
      .when(start(soon))
      .records({ ...waiting, data: { ...started.data, scheduledAt: soon, undoUntil } });
    const far = "2026-11-22T09:30:00.000Z";
    given(undoFor, added)
      .when(start(far))
      .records({ ...waiting, data: { ...started.data, scheduledAt: far, undoUntil: far } });
  });

  it("does not start where it would wait for longer than its mails may be sent", () => {
    given({ ...undoFor, data: { ...settings, undoForMs: 60_000, notAfter: justBefore } }, added)
      .when(start())
      .isRefused({ code: "scheduled-too-late", scheduledAt: undoUntil });
  });

  it("is a draft again after an undo: it takes recipients and starts anew", () => {
    given(undoFor, added, waiting)
      .when(undo(justBefore))
      .records({ ...undone, at: justBefore });
    given(undoFor, added, waiting, paused).when(undo()).records(undone);
    given(undoFor, added, waiting, undone)
      .when(add)
      .records({ type: "MailingPartsAdded", at, data: { first: 2, parts: [part("three")] } });
    given(undoFor, added, waiting, undone).when(start()).records(waiting);
    given(undoFor, added, waiting, undone).when(pause).isRefused({ code: "mailing-not-started" });
  });

  it("is taken back once, however often that is asked", () => {
    given(undoFor, added, waiting, undone).when(undo()).records();
    given(undoFor, added).when(undo()).isRefused({ code: "mailing-not-started" });
  });

  it("cannot be taken back once the time is over, was none, or its parts are being made", () => {
    given(undoFor, added, waiting).when(undo(undoUntil)).isRefused({ code: "undo-time-over", undoUntil });
    given(created, added, started).when(undo()).isRefused({ code: "undo-time-over", undoUntil: null });
    given(undoFor, added, waiting, released).when(undo(justBefore)).isRefused({ code: "undo-time-over" });
    given(undoFor, added, waiting, cancelled).when(undo()).isRefused({ code: "mailing-has-ended" });
    given().when(undo()).isRefused({ code: "mailing-not-found" });
  });

  it("is released once, after its time and not while it is paused", () => {
    given(undoFor, added, waiting).when(release(justBefore)).records();
    given(undoFor, added, waiting).when(release(undoUntil)).records(released);
    given(undoFor, added, waiting, released).when(release(undoUntil)).records();
    given(undoFor, added, waiting, paused).when(release(undoUntil)).records();
    given(undoFor, added, waiting, undone).when(release(undoUntil)).records();
    given(created, added, started).when(release(undoUntil)).records();
  });

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`is never taken back after it was released, whatever the clocks say (seed ${seed})`, () => {
      const chance = chanceOf(seed);
      let undos = 0;
      let releases = 0;
      for (let history = 0; history < 100; history += 1) {
        let state = [undoFor, added].reduce<MailingState>(mailingDecider.evolve, mailingDecider.initialState);
        let isReleased = false;
        for (let step = 0; step < 40; step += 1) {
          // The clocks of two processes, each minutes off.
          const when = new Date(Date.parse(at) + chance(240_000)).toISOString();
          const one = counts({ sent: 10 });
          const commands: readonly MailingCommand[] = [
            { type: "StartMailing", at: when, scheduledAt: null },
            undo(when),
            release(when),
            { ...add, at: when },
            pause,
            resume,
            end(chance(2), one),
            chance(10) === 0 ? cancel : resume,
          ];
          const decision = mailingDecider.decide(commands[chance(commands.length)] as MailingCommand, state);
          if (decision.outcome === "rejected") continue;
          for (const event of decision.events) {
            if (event.type === "MailingUndone") undos += 1;
            if (event.type === "MailingUndone") expect(isReleased, "an undo after the release").to.equal(false);
            if (event.type === "MailingReleased") releases += 1;
            if (event.type === "MailingReleased") isReleased = true;
            state = mailingDecider.evolve(state, event);
          }
          if (isReleased && state.status !== "absent") expect(state.status).not.to.equal("draft");
        }
      }
      expect(Math.min(undos, releases)).to.be.greaterThan(5);
    });
  }
});
