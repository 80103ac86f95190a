import {
  earlier,
  jobFailed,
  jobPaused,
  jobResumed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
  now,
  startJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, failed, paused, pending, processing, retrying, scheduled } from "../support/histories.ts";

describe("starting a job whose turn it is", () => {
  it("gives the lease of its first attempt to the worker", () => {
    given(...pending())
      .when(startJob())
      .records(jobStarted());
  });

  it("gives the lease when its time has come", () => {
    given(...scheduled())
      .when(startJob())
      .records(jobStarted());
  });

  it("gives the lease of the next attempt after one that failed", () => {
    given(...retrying())
      .when(startJob({ attempt: 2 }))
      .records(jobStarted({ attempt: 2 }));
  });

  it("gives the lease of the same attempt after a pause", () => {
    given(...processing(), jobPaused(), jobResumed())
      .when(startJob({ worker: "worker-2", opening: 1 }))
      .records(jobStarted({ worker: "worker-2" }));
  });

  it("gives the lease of the next run after a retry by hand", () => {
    given(...failed(), jobRetried())
      .when(startJob({ run: 2 }))
      .records(jobStarted({ run: 2 }));
  });
});

describe("starting a job that is being processed", () => {
  it("gives a lease of its own also to the worker that has the one before, as it begins anew what it broke off", () => {
    given(...processing())
      .when(startJob())
      .records(jobStarted());
  });

  it("takes it over from a worker that is gone", () => {
    given(...processing())
      .when(startJob({ worker: "worker-2" }))
      .records(jobStarted({ worker: "worker-2" }));
  });

  it("takes it over also past the time by which it had to start, because it did start", () => {
    given(...processing({ notAfter: earlier }))
      .when(startJob({ worker: "worker-2" }))
      .records(jobStarted({ worker: "worker-2" }));
  });
});

describe("starting a job that was not to start after a time", () => {
  const expired = jobFailed({
    error: { code: "expired", message: `The job was not to start after ${earlier}.` },
    counts: null,
  });

  it("ends it unsent once the time has passed", () => {
    given(...pending({ notAfter: earlier }))
      .when(startJob())
      .records(expired);
  });

  it("ends it unsent also when it waited for a time that was too late", () => {
    given(...scheduled({ notAfter: earlier }))
      .when(startJob())
      .records(expired);
  });

  it("gives the lease at that very time", () => {
    given(...pending({ notAfter: now }))
      .when(startJob())
      .records(jobStarted());
  });
});

describe("starting a turn of a job that is not open", () => {
  it("is refused for an attempt that is over", () => {
    given(...retrying())
      .when(startJob({ attempt: 1 }))
      .isRefused({ code: "turn-not-open", currentStatus: "retrying" });
    given(...retrying(), jobStarted({ attempt: 2 }))
      .when(startJob({ attempt: 1 }))
      .isRefused({ code: "turn-not-open", currentStatus: "processing" });
  });

  it("is refused for an attempt that is still to come", () => {
    given(...pending())
      .when(startJob({ attempt: 2 }))
      .isRefused({ code: "turn-not-open", currentStatus: "pending" });
    given(...processing())
      .when(startJob({ attempt: 2 }))
      .isRefused({ code: "turn-not-open", currentStatus: "processing" });
  });

  it("is refused for a run that is over", () => {
    given(...failed(), jobRetried())
      .when(startJob({ run: 1 }))
      .isRefused({ code: "turn-not-open", currentStatus: "pending" });
    given(...retrying(), jobStarted({ attempt: 2 }), jobFailed({ attempt: 2 }), jobRetried())
      .when(startJob({ run: 1, attempt: 2 }))
      .isRefused({ code: "turn-not-open", currentStatus: "pending" });
  });

  it("is refused for the next attempt while a pause holds it back", () => {
    given(...retrying(), jobPaused())
      .when(startJob({ attempt: 2 }))
      .isRefused({ code: "turn-not-open", currentStatus: "paused" });
  });

  it("is refused while it is paused", () => {
    given(...paused())
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "paused" });
    given(...processing(), jobPaused())
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "paused" });
  });

  for (const [status, history] of each(ended)) {
    it(`is refused once it has ended: ${status}`, () => {
      given(...history())
        .when(startJob())
        .isRefused({ code: "turn-not-open", currentStatus: status });
    });
  }

  it("is refused for a job that was never created", () => {
    given().when(startJob()).isRefused({ code: "job-not-found" });
  });

  it("stays refused for the attempt that a retry was scheduled after", () => {
    given(...processing({ maxAttempts: 2 }), jobRetryScheduled())
      .when(startJob())
      .isRefused({ code: "turn-not-open", currentStatus: "retrying" });
  });
});
