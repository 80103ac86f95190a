import {
  counts,
  jobFailed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
  scheduleRetry,
  smtpUnavailable,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, failed, paused, processing, retrying, waiting } from "../support/histories.ts";

describe("putting a job off to its next attempt", () => {
  it("names the next attempt, its time and what went wrong", () => {
    given(...processing())
      .when(scheduleRetry())
      .records(jobRetryScheduled());
  });

  it("carries the priority of the job to the scheduler", () => {
    given(...processing({ priority: "high" }))
      .when(scheduleRetry())
      .records(jobRetryScheduled({ priority: "high" }));
  });

  it("counts on through the attempts of a run", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(scheduleRetry({ attempt: 2 }))
      .records(jobRetryScheduled({ attempt: 3 }));
  });

  it("counts the attempts of each run from one", () => {
    given(...failed({ maxAttempts: 2 }), jobRetried(), jobStarted({ run: 2 }))
      .when(scheduleRetry({ run: 2 }))
      .records(jobRetryScheduled({ run: 2, attempt: 2 }));
  });

  it("uses up none of its attempts where that is for deferred recipients alone", () => {
    const isForDeferred = true;
    const patient = given(
      ...processing({ maxAttempts: 1 }),
      jobRetryScheduled({ isForDeferred }),
      jobStarted({ attempt: 2 }),
    );
    patient
      .when(scheduleRetry({ attempt: 2, isForDeferred }))
      .records(jobRetryScheduled({ attempt: 3, isForDeferred }));
    patient
      .when(scheduleRetry({ attempt: 2 }))
      .records(jobFailed({ attempt: 2, error: smtpUnavailable, counts: counts({ pending: 3 }) }));
  });

  it("is a repeat when it was put off after this attempt", () => {
    given(...retrying())
      .when(scheduleRetry())
      .recordsNothing();
  });
});

describe("putting a job off after the last attempt it has", () => {
  const gaveUp = jobFailed({ error: smtpUnavailable, counts: counts({ pending: 3 }) });

  it("ends it as failed with what went wrong", () => {
    given(...processing({ maxAttempts: 1 }))
      .when(scheduleRetry())
      .records(gaveUp);
    given(...retrying({ maxAttempts: 2 }), jobStarted({ attempt: 2 }))
      .when(scheduleRetry({ attempt: 2 }))
      .records(jobFailed({ ...gaveUp.data, attempt: 2 }));
  });

  it("is a repeat when it ended so", () => {
    given(...processing({ maxAttempts: 1 }), gaveUp)
      .when(scheduleRetry())
      .recordsNothing();
  });
});

describe("putting a job off without its lease", () => {
  it("is refused when another worker took it over", () => {
    given(...processing(), jobStarted({ worker: "worker-2" }))
      .when(scheduleRetry())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when the worker holds another attempt", () => {
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(scheduleRetry())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("is refused when an attempt before the last was put off", () => {
    given(...retrying(), jobStarted({ attempt: 2 }), jobRetryScheduled({ attempt: 3 }))
      .when(scheduleRetry())
      .isRefused({ code: "lease-lost", currentStatus: "retrying" });
  });

  const { retrying: _, ...waitingForTheFirst } = waiting;
  const { failed: __, ...endedOtherwise } = ended;
  for (const [status, history] of each({ ...waitingForTheFirst, paused, ...endedOtherwise })) {
    it(`is refused when no worker is processing it: ${status}`, () => {
      given(...history())
        .when(scheduleRetry())
        .isRefused({ code: "lease-lost", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(scheduleRetry()).isRefused({ code: "job-not-found" });
  });
});
