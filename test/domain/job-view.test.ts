import { expect } from "chai";
import { foldJobView, progressOf } from "../../src/domain/job/job-view.ts";
import { recipientsInDoubt, recipientsToMail } from "../../src/domain/recipients/ledger.ts";
import * as example from "../support/examples.ts";
import { shown, viewOf } from "../support/job-views.ts";

const { counts, earlier, later, now, smtpUnavailable } = example;

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

describe("a job that was created", () => {
  it("is queued", () => {
    expect(shown(created)).to.deep.equal(fresh);
    expect(viewOf(created).settings).to.equal(created.data);
    expect(progressOf(viewOf(created))).to.deep.equal({ ...counts({ pending: 3 }), bounced: 0, complained: 0 });
  });

  it("is scheduled where it waits for a time", () => {
    expect(shown(example.jobCreated({ scheduledAt: later })).status).to.equal("scheduled");
  });

  it("stays as it is when it is created once more", () => {
    expect(shown(created, started, example.jobCreated({ total: 9 }, later))).to.deep.equal(inProgress);
  });
});

describe("a history that does not begin with the creation of the job", () => {
  it("is no job", () => {
    expect(foldJobView([])).to.equal(null);
    expect(foldJobView([started, created])).to.equal(null);
  });
});

describe("a job that no worker has begun", () => {
  it("is queued where it may run at once", () => {
    expect(fresh.status).to.equal("queued");
    const retried = [created, started, example.jobFailed(), example.jobRetried()];
    expect(shown(...retried).status).to.equal("queued");
  });

  it("is pending where it waits for its group, and scheduled where it waits for a time", () => {
    const grouped = { groupSha256: "c".repeat(64) };
    expect(shown(example.jobCreated(grouped)).status).to.equal("pending");
    expect(shown(example.jobCreated({ ...grouped, scheduledAt: later })).status).to.equal("scheduled");
    const retried = [created, started, example.jobFailed(), example.jobRetried(grouped)];
    expect(shown(...retried).status).to.equal("pending");
  });
});

describe("a job that was started", () => {
  it("is processing, in the attempt that began", () => {
    expect(shown(created, started)).to.deep.equal(inProgress);
  });

  it("keeps when it was started first, through attempts and runs", () => {
    const secondAttempt = [created, started, retryScheduled, example.jobStarted({ attempt: 2 }, later)];
    const secondRun = [
      created,
      started,
      example.jobFailed(),
      example.jobRetried(),
      example.jobStarted({ run: 2 }, later),
    ];
    expect(shown(...secondAttempt)).to.deep.equal({ ...inProgress, attempt: 2 });
    expect(shown(...secondRun)).to.deep.equal({ ...inProgress, run: 2 });
  });

  it("forgets what went wrong before", () => {
    expect(shown(created, started, retryScheduled).error).to.equal(smtpUnavailable);
    expect(shown(created, started, retryScheduled, example.jobStarted({ attempt: 2 })).error).to.equal(null);
  });
});

describe("a job whose attempt came to nothing", () => {
  it("is retrying, and tells when and why", () => {
    expect(shown(created, started, retryScheduled)).to.deep.equal({
      ...inProgress,
      status: "retrying",
      nextAttemptAt: later,
      error: smtpUnavailable,
    });
  });
});

describe("a job that was paused", () => {
  it("is paused, in the attempt that it was in", () => {
    expect(shown(created, example.jobPaused())).to.deep.equal({ ...fresh, status: "paused" });
    expect(shown(created, started, example.jobPaused())).to.deep.equal({ ...inProgress, status: "paused" });
  });

  it("has no time of a next attempt, because the time of its resumption is unknown", () => {
    expect(shown(created, started, retryScheduled, example.jobPaused()).nextAttemptAt).to.equal(null);
  });

  it("is queued again once it goes on, and the interrupted attempt does not count", () => {
    const resumed = [created, started, example.jobPaused(), example.jobResumed()];
    expect(shown(...resumed)).to.deep.equal({ ...inProgress, status: "queued", attempt: 0 });
    expect(shown(...resumed, example.jobStarted()).attempt).to.equal(1);
  });

  it("is scheduled again where it waits for a time", () => {
    const scheduled = [example.jobCreated({ scheduledAt: later }), example.jobPaused()];
    expect(shown(...scheduled, example.jobResumed({ notBefore: later })).status).to.equal("scheduled");
  });

  it("is pending again where it belongs to a group", () => {
    const resumed = example.jobResumed({ groupSha256: "c".repeat(64) });
    expect(shown(created, example.jobPaused(), resumed).status).to.equal("pending");
  });
});

describe("a job that was rescheduled", () => {
  it("shows its new time and lane, and waits for them", () => {
    const moved = example.jobRescheduled({ priority: "high" });
    const { settings, status } = viewOf(created, moved);
    expect({ ...settings, status }).to.include({ scheduledAt: later, priority: "high", status: "scheduled" });
    expect(shown(created, example.jobRescheduled({ scheduledAt: null })).status).to.equal("queued");
    expect(shown(created, example.jobPaused(), example.jobRescheduled({ isPaused: true })).status).to.equal("paused");
  });
});

describe("a job whose recipients have outcomes", () => {
  it("tells how far it has come", () => {
    const view = viewOf(
      created,
      started,
      example.recipientsClaimed(),
      example.recipientSent({ recipient: 0 }),
      example.recipientDeferred({ recipient: 1 }),
      example.recipientUnknown({ recipient: 2 }),
    );
    expect(progressOf(view)).to.deep.equal({
      ...counts({ sent: 1, deferred: 1, unknown: 1 }),
      bounced: 0,
      complained: 0,
    });
    expect(view.status).to.equal("processing");
  });

  it("has those to do again that were claimed and not handed over", () => {
    const claimed = [created, started, example.recipientsClaimed()];
    expect(recipientsInDoubt(viewOf(...claimed).ledger)).to.deep.equal([0, 1, 2]);
    expect(recipientsToMail(viewOf(...claimed, example.recipientsReleased()).ledger)).to.deep.equal([0, 1, 2]);
  });
});
