import { expect } from "chai";
import { defaultJobType } from "../../src/domain/job/events.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import { nextInWindow, weekdays } from "../../src/domain/mailing/window.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { explainMailing, type FactsOfMailing } from "../../src/explain/explain-mailing.ts";
import { counts, earlier, later, now } from "../support/examples.ts";

const created = {
  type: "MailingCreated",
  at: earlier,
  data: {
    type: defaultJobType,
    priority: "normal",
    contentSha256: "a".repeat(64),
    requestSha256: null,
    notAfter: null,
    maxAttempts: 4,
    retryDelayMs: null,
    onUnknown: "resend",
    groupSha256: null,
    undoForMs: 0,
    needsApproval: false,
    brakes: null,
  },
} as const satisfies MailingEvent;

const added: MailingEvent = {
  type: "MailingPartsAdded",
  at: earlier,
  data: {
    first: 0,
    parts: ["one", "two", "three"].map((jobId) => ({ jobId, recipients: 3, contentSha256: "b".repeat(64) })),
  },
};

const started = (scheduledAt: string | null = null, undoUntil: string | null = null): MailingEvent => ({
  type: "MailingStarted",
  at: now,
  data: { parts: 3, recipients: 9, scheduledAt, undoUntil },
});

const firstEnded: MailingEvent = {
  type: "MailingPartsEnded",
  at: now,
  data: { parts: [{ part: 0, result: "completed", counts: counts({ sent: 3 }) }] },
};

const known = <Fact>(fact: Fact) => ({ known: true, fact }) as const;

const explain = (events: readonly MailingEvent[], facts: Partial<FactsOfMailing> = {}) => {
  const decisions = events.map((event, index) => ({ sequence: index + 1, actor: "key:abc", event }));
  const stored = decisions as unknown as readonly StoredEvent<MailingEvent>[];
  return explainMailing({ decisions: stored, now, parts: null, workers: null, ...facts });
};

const codesOf = (...given: Parameters<typeof explain>) => explain(...given)?.reasons.map(({ code }) => code);

const noWorkers = known([]);

describe("The explanation of a mailing", () => {
  it("is none for what the log does not know", () => {
    expect(explain([])).to.equal(null);
  });

  it("is what a draft waits for: recipients, or its start", () => {
    expect(explain([created])).to.deep.include({ status: "draft", notKnown: [] });
    expect(explain([created])?.reasons[0]).to.include({ changedBy: "recipients, and then its start" });
    expect(explain([created, added])?.reasons[0]).to.include({
      message: "The mailing is a draft with 3 parts.",
      changedBy: "its start",
    });
  });

  it("says who has asked for an approval, and until when a start can be taken back", () => {
    const asked: MailingEvent = {
      type: "MailingApprovalRequested",
      at: now,
      data: { digest: "c".repeat(64), parts: 3, recipients: 9, scheduledAt: null, requestedBy: "key:abc" },
    };
    const { status, reasons } = explain([created, added, asked]) ?? {};
    expect(status).to.equal("awaiting-approval");
    expect(reasons).to.have.lengthOf(1);
    expect(reasons?.[0]).to.include({
      code: "awaiting-approval",
      since: now,
      changedBy: "the approval of another key",
    });
    const waiting = explain([created, added, started(null, later)], { parts: known({}), workers: noWorkers });
    expect(waiting?.status).to.equal("scheduled");
    expect(waiting?.reasons[0]).to.include({ code: "undo-possible", until: later, changedBy: "an undo" });
  });

  it("says who has taken a start back, or rejected it, until it is asked for again", () => {
    const undone: MailingEvent = { type: "MailingUndone", at: later, data: { reason: "the price is wrong" } };
    const isUndone = [created, added, started(null, later), undone];
    expect(codesOf(isUndone)).to.deep.equal(["undone", "draft"]);
    expect(explain(isUndone)?.reasons[0]).to.include({
      since: later,
      message: "The start of the mailing was taken back by key:abc: the price is wrong.",
    });
    const asked: MailingEvent = {
      type: "MailingApprovalRequested",
      at: now,
      data: { digest: "c".repeat(64), parts: 3, recipients: 9, scheduledAt: null, requestedBy: "key:abc" },
    };
    const data = { digest: "c".repeat(64), rejectedBy: "key:boss", reason: "no" };
    const isRejected: readonly MailingEvent[] = [created, added, asked, { type: "MailingRejected", at: later, data }];
    expect(explain(isRejected)?.reasons[0]).to.include({
      code: "rejected",
      since: later,
      message: "The start of the mailing was rejected by key:boss: no.",
    });
    expect(codesOf([...isRejected, asked])).to.deep.equal(["awaiting-approval"]);
  });

  it("says when its window opens", () => {
    const window = { days: ["sun"], from: "02:00", to: "03:00", timeZone: "UTC" } as const;
    const brakes = { ratePerHour: null, rampUp: null, window, stopWhen: null };
    const braked: MailingEvent = { ...created, data: { ...created.data, brakes } };
    const { reasons } = explain([braked, added, started()], { parts: known({}), workers: noWorkers }) ?? {};
    expect(reasons?.[0]).to.include({ code: "window-shut", until: nextInWindow(window, now) });
    const open = { ...brakes, window: { days: weekdays, from: "00:00", to: "24:00", timeZone: "UTC" } };
    const always: MailingEvent = { ...created, data: { ...created.data, brakes: open } };
    expect(codesOf([always, added, started()], { parts: known({}), workers: noWorkers })).not.to.include("window-shut");
  });

  it("says until when it is scheduled", () => {
    const parts = known({ scheduled: 2 });
    const { status, reasons } = explain([created, added, started(later)], { parts, workers: noWorkers }) ?? {};
    expect(status).to.equal("scheduled");
    expect(reasons?.map(({ code }) => code)).to.deep.equal(["scheduled", "parts-open", "parts-not-made"]);
    expect(reasons?.[0]).to.include({ until: later });
  });

  it("sums up its parts: how many are left, in which status, and how many are no jobs yet", () => {
    const parts = known({ queued: 1, processing: 0 });
    const worker = { name: "w", type: defaultJobType, busy: 0, slots: 5, helping: 0, breaker: null };
    const { reasons } = explain([created, added, started(), firstEnded], { parts, workers: known([worker]) }) ?? {};
    expect(reasons?.map(({ message }) => message)).to.deep.equal([
      "2 of 3 parts not ended: 1 queued.",
      "1 part of these will be jobs once the ones before are done.",
    ]);
  });

  it("says what keeps workers from its parts, and nothing of workers where no part waits for them", () => {
    const started3 = [created, added, started()];
    expect(codesOf(started3, { parts: known({ queued: 3 }), workers: noWorkers })).to.deep.equal([
      "parts-open",
      "no-worker",
    ]);
    expect(codesOf(started3, { parts: known({ retrying: 3 }), workers: noWorkers })).to.deep.equal(["parts-open"]);
  });

  it("says who paused it, and how many parts that stops", () => {
    const paused: MailingEvent = { type: "MailingPaused", at: now, data: { reason: "a typo" } };
    const { status, reasons } = explain([created, added, started(), paused], { parts: known({ paused: 3 }) }) ?? {};
    expect(status).to.equal("paused");
    expect(reasons?.[0]?.message).to.equal("The mailing was paused by key:abc: a typo.");
    expect(reasons?.[1]?.message).to.equal("3 of 3 parts not ended: 3 paused.");
  });

  it("says how it ended", () => {
    const cancelled: MailingEvent = { type: "MailingCancelled", at: now, data: { reason: null } };
    expect(explain([created, added, cancelled])?.reasons[0]).to.deep.include({
      code: "cancelled",
      since: now,
      message: "The mailing was cancelled by key:abc.",
    });
    const failed: MailingEvent = { type: "MailingCompleted", at: now, data: { result: "failed", counts: counts({}) } };
    expect(codesOf([created, added, started(), failed])).to.deep.equal(["failed"]);
  });

  it("says that its parts are not known, and does not guess how many are no jobs", () => {
    const given = explain([created, added, started()], { parts: { known: false }, workers: { known: false } });
    expect(given?.notKnown).to.deep.equal(["parts", "workers"]);
    expect(given?.reasons.map(({ code }) => code)).to.deep.equal(["parts-open"]);
  });
});
