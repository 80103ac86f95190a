import {
  earlier,
  jobPaused,
  jobRescheduled,
  jobResumed,
  jobStarted,
  later,
  now,
  rescheduleJob,
  resumeJob,
  startJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, paused, pending, processing, retrying, scheduled } from "../support/histories.ts";

const muchLater = "2026-11-21T12:00:00.000Z";

describe("rescheduling a job that has not started", () => {
  it("has it wait for the other time", () => {
    given(...scheduled())
      .when(rescheduleJob({ scheduledAt: muchLater, reason: "the offer begins at noon" }))
      .records(jobRescheduled({ scheduledAt: muchLater, reason: "the offer begins at noon" }));
  });

  it("has one that waits for its turn wait for a time", () => {
    given(...pending())
      .when(rescheduleJob({ scheduledAt: later }))
      .records(jobRescheduled());
  });

  it("lets it go at once where the time is null, or has passed", () => {
    for (const scheduledAt of [null, earlier, now]) {
      given(...scheduled())
        .when(rescheduleJob({ scheduledAt }))
        .records(jobRescheduled({ scheduledAt: null }));
    }
  });

  it("moves it to another lane, and leaves its time as it is", () => {
    given(...scheduled())
      .when(rescheduleJob({ priority: "high" }))
      .records(jobRescheduled({ priority: "high" }));
  });

  it("keeps a paused one paused, and tells it when it is resumed", () => {
    const moved = jobRescheduled({ scheduledAt: muchLater, isPaused: true });
    given(...paused())
      .when(rescheduleJob({ scheduledAt: muchLater }))
      .records(moved);
    given(...paused(), moved)
      .when(resumeJob())
      .records(jobResumed({ opening: 2, notBefore: muchLater }));
  });

  it("carries the group for the scheduler", () => {
    const groupSha256 = "9".repeat(64);
    given(...scheduled({ groupSha256 }))
      .when(rescheduleJob({ scheduledAt: null }))
      .records(jobRescheduled({ scheduledAt: null, groupSha256 }));
  });
});

describe("rescheduling a job to what it is", () => {
  it("records nothing", () => {
    given(...scheduled())
      .when(rescheduleJob({ scheduledAt: later }))
      .recordsNothing();
    given(...pending())
      .when(rescheduleJob({ scheduledAt: null }))
      .recordsNothing();
    given(...pending())
      .when(rescheduleJob({ scheduledAt: earlier, priority: "normal" }))
      .recordsNothing();
    given(...scheduled(), jobRescheduled({ scheduledAt: muchLater }))
      .when(rescheduleJob({ scheduledAt: muchLater }))
      .recordsNothing();
  });
});

describe("rescheduling a job that would then start too late", () => {
  it("is refused, with both times", () => {
    given(...pending({ notAfter: later }))
      .when(rescheduleJob({ scheduledAt: muchLater }))
      .isRefused({ code: "scheduled-too-late", scheduledAt: muchLater, notAfter: later });
  });

  it("is allowed up to that very time", () => {
    given(...pending({ notAfter: later }))
      .when(rescheduleJob({ scheduledAt: later }))
      .records(jobRescheduled());
  });
});

describe("rescheduling a job that has started", () => {
  for (const [status, history] of each({ processing, retrying })) {
    it(`is refused: ${status}`, () => {
      given(...history())
        .when(rescheduleJob({ scheduledAt: later }))
        .isRefused({ code: "job-has-started", currentStatus: status });
    });
  }

  it("is refused when it was paused afterwards", () => {
    given(...processing(), jobPaused())
      .when(rescheduleJob({ scheduledAt: later }))
      .isRefused({ code: "job-has-started", currentStatus: "paused" });
  });

  for (const [status, history] of each(ended)) {
    it(`is refused once it has ended: ${status}`, () => {
      given(...history())
        .when(rescheduleJob({ scheduledAt: later }))
        .isRefused({ code: "job-has-ended", currentStatus: status });
    });
  }
});

describe("starting a job that was rescheduled after it was queued", () => {
  it("is refused for what was queued before, whatever a clock says", () => {
    given(...pending(), jobRescheduled({ scheduledAt: earlier }))
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "scheduled" });
    given(...pending(), jobRescheduled({ scheduledAt: null, priority: "high" }))
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "pending" });
  });

  it("gives the lease for what was queued since", () => {
    given(...pending(), jobRescheduled())
      .when(startJob({ opening: 1 }))
      .records(jobStarted());
  });

  it("is refused for what was queued before a pause", () => {
    given(...paused(), jobResumed())
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "pending" });
  });
});
