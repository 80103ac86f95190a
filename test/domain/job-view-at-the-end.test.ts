import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import * as example from "../support/examples.ts";
import { shown, viewOf } from "../support/job-views.ts";

const { counts, earlier, later, now, tooManyFailures } = example;

const created = example.jobCreated({}, earlier);
const started = example.jobStarted();
const retryScheduled = example.jobRetryScheduled();

const fresh = {
  status: "queued",
  run: 1,
  attempt: 0,
  createdAt: earlier,
  startedAt: null,
  completedAt: null,
  nextAttemptAt: null,
  error: null,
  rows: 0,
  feedback: null,
} as const;
const inProgress = { ...fresh, status: "processing", attempt: 1, startedAt: now } as const;

describe("a job that ended", () => {
  it("tells when, however it ended", () => {
    const over = { ...inProgress, completedAt: later };
    expect(shown(created, started, example.jobCompleted({}, later))).to.deep.equal({ ...over, status: "completed" });
    expect(shown(created, started, example.jobCancelled({}, later))).to.deep.equal({ ...over, status: "cancelled" });
    expect(shown(created, started, example.jobFailed({}, later))).to.deep.equal({
      ...over,
      status: "failed",
      error: tooManyFailures,
    });
  });

  it("has no next attempt any more", () => {
    expect(shown(created, started, retryScheduled, example.jobCancelled()).nextAttemptAt).to.equal(null);
  });

  it("was never started where it expired", () => {
    const expired = example.jobFailed({ error: { code: "expired", message: "Too late." }, counts: null });
    expect(shown(created, expired)).to.deep.include({ status: "failed", attempt: 0, startedAt: null });
  });

  it("still counts what was on its way", () => {
    const view = viewOf(created, started, example.recipientsClaimed(), example.jobCancelled(), example.recipientSent());
    expect(view.status).to.equal("cancelled");
    expect(progressOf(view)).to.deep.equal({ ...counts({ sent: 1, pending: 2 }), bounced: 0, complained: 0 });
  });
});

describe("a failed job that was retried by hand", () => {
  const history = [created, started, example.recipientSent(), example.recipientFailed({ recipient: 1 })];
  const retried = [...history, example.jobFailed(), example.jobRetried()];

  it("is queued in its next run, as if it had not ended", () => {
    expect(shown(...retried)).to.deep.equal({ ...fresh, run: 2, startedAt: now });
  });

  it("has only to do what was asked for", () => {
    expect(progressOf(viewOf(...retried))).to.deep.equal({
      ...counts({ sent: 1, pending: 2 }),
      bounced: 0,
      complained: 0,
    });
  });
});
