import { expect } from "chai";
import type { RecipientCounts } from "../../src/domain/job/events.ts";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import { mailingDecider } from "../../src/domain/mailing/decider.ts";
import type { MailingEvent, MailingPart, MailingSettings } from "../../src/domain/mailing/events.ts";
import type { MailingRejection, MailingState } from "../../src/domain/mailing/state.ts";

export const at = "2026-11-21T09:30:00.000Z";
export const later = "2026-11-21T12:00:00.000Z";
export const sha = (digit: string): string => digit.repeat(64);

export const settings: MailingSettings = {
  type: "email.send",
  priority: "normal",
  contentSha256: sha("a"),
  requestSha256: null,
  notAfter: null,
  maxAttempts: 4,
  retryDelayMs: null,
  onUnknown: "resend",
  groupSha256: null,
  undoForMs: 0,
  needsApproval: false,
  brakes: null,
};
export const part = (jobId: string, recipients = 1000): MailingPart => ({ jobId, recipients, contentSha256: sha("b") });
export const counts = (given: Partial<RecipientCounts>): RecipientCounts => ({ ...noCounts, total: 10, ...given });

type EventOf<Type extends MailingEvent["type"]> = Extract<MailingEvent, { type: Type }>;

export const created: EventOf<"MailingCreated"> = { type: "MailingCreated", at, data: settings };
export const added: EventOf<"MailingPartsAdded"> = {
  type: "MailingPartsAdded",
  at,
  data: { first: 0, parts: [part("one"), part("two", 500)] },
};
export const started: EventOf<"MailingStarted"> = {
  type: "MailingStarted",
  at,
  data: { parts: 2, recipients: 1500, scheduledAt: null, undoUntil: null },
};
export const paused: EventOf<"MailingPaused"> = { type: "MailingPaused", at, data: { reason: null } };
export const cancelled: EventOf<"MailingCancelled"> = { type: "MailingCancelled", at, data: { reason: null } };

export const stateAfter = (...history: readonly MailingEvent[]): MailingState =>
  history.reduce(mailingDecider.evolve, mailingDecider.initialState);

export const given = (...history: readonly MailingEvent[]) => ({
  when: (command: MailingCommand) => {
    const decision = mailingDecider.decide(command, stateAfter(...history));
    const events = decision.outcome === "accepted" ? decision.events : null;
    return {
      records: (...expected: readonly MailingEvent[]) => expect(events).to.deep.equal(expected),
      isRefused: (rejection: Partial<MailingRejection>) =>
        expect(decision)
          .to.deep.include({ outcome: "rejected" })
          .and.to.have.property("rejection")
          .that.includes(rejection),
    };
  },
});

export const start = (scheduledAt: string | null = null): MailingCommand => ({ type: "StartMailing", at, scheduledAt });
export const retire: MailingCommand = { type: "RetireMailing", at: later, restingBefore: later, reason: "retention" };
export const pause: MailingCommand = { type: "PauseMailing", at, reason: null };
export const resume: MailingCommand = { type: "ResumeMailing", at, reason: null };
export const cancel: MailingCommand = { type: "CancelMailing", at, reason: null };
export const add: MailingCommand = { type: "AddParts", at, parts: [part("three")] };
export const end = (number: number, given: RecipientCounts): MailingCommand => ({
  type: "EndParts",
  at,
  parts: [{ part: number, result: "completed", counts: given }],
  retries: 0,
});
