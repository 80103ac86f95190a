import { mostTakeovers } from "../../src/domain/job/lease.ts";
import {
  completeJob,
  counts,
  endTakeovers,
  jobFailed,
  jobPaused,
  jobReleased,
  jobResumed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
  releaseJob,
  startJob,
} from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, ended, paused, pending, processing } from "../support/histories.ts";

const takenOver = (times: number) =>
  Array.from({ length: times }, (_, time) => jobStarted({ worker: `other-${time}` }));
const wornOut = () => [...processing(), ...takenOver(mostTakeovers)];

const abandoned = jobFailed({
  error: {
    code: "too-many-takeovers",
    message: "Attempt 1 was begun 6 times, and each time the worker died or broke off before its end.",
  },
  counts: counts({ sent: 1, pending: 2 }),
});

describe("a job whose workers die or break off, one after the other", () => {
  it("is taken over five times within an attempt", () => {
    given(...processing(), ...takenOver(mostTakeovers - 1))
      .when(startJob())
      .records(jobStarted());
  });

  it("is taken over no sixth time, and fails", () => {
    given(...wornOut())
      .when(startJob())
      .isRefused({ code: "too-many-takeovers", currentStatus: "processing" });
    given(...wornOut())
      .when(endTakeovers())
      .records(abandoned);
  });

  it("is taken over again where its workers got further", () => {
    given(...wornOut())
      .when(startJob({ hasProgressed: true }))
      .records(jobStarted());
  });

  it("fails once, whichever worker records it", () => {
    given(...wornOut(), abandoned)
      .when(endTakeovers())
      .recordsNothing();
  });

  it("may still be ended well by the worker that has it", () => {
    given(...processing(), ...takenOver(mostTakeovers - 1), jobStarted())
      .when(completeJob())
      .records({
        type: "JobCompleted",
        at: completeJob().at,
        data: { run: 1, attempt: 1, counts: counts({ sent: 3 }) },
      });
  });

  it("begins to count anew with the next attempt", () => {
    given(...wornOut(), jobRetryScheduled(), jobStarted({ attempt: 2 }))
      .when(startJob({ attempt: 2 }))
      .records(jobStarted({ attempt: 2 }));
  });

  it("begins to count anew with a retry by hand", () => {
    given(...wornOut(), abandoned, jobRetried(), jobStarted({ run: 2 }))
      .when(startJob({ run: 2 }))
      .records(jobStarted({ run: 2 }));
  });
});

describe("what is no takeover", () => {
  const often = Array.from({ length: 20 });

  it("is a start after its worker gave the job back", () => {
    const restarts = often.flatMap(() => [jobReleased(), jobStarted()]);
    given(...processing(), ...restarts)
      .when(startJob({ worker: "worker-2" }))
      .records(jobStarted({ worker: "worker-2" }));
  });

  it("is a start after a pause, whatever became of the worker meanwhile", () => {
    const pauses = often.flatMap((_, index) => [jobPaused(), jobResumed({ opening: index + 1 }), jobStarted()]);
    given(...processing(), ...pauses)
      .when(startJob({ worker: "worker-2", opening: often.length }))
      .records(jobStarted({ worker: "worker-2" }));
  });

  it("forgets none of those that were", () => {
    given(...wornOut(), jobReleased(), jobStarted(), jobPaused(), jobResumed(), jobStarted())
      .when(startJob({ opening: 1 }))
      .isRefused({ code: "too-many-takeovers", currentStatus: "processing" });
  });
});

describe("giving a job back", () => {
  it("is for the worker that holds it", () => {
    given(...processing())
      .when(releaseJob())
      .records(jobReleased());
    given(...processing(), jobStarted({ worker: "worker-2" }))
      .when(releaseJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("ends the lease", () => {
    given(...processing(), jobReleased())
      .when(completeJob())
      .isRefused({ code: "lease-lost", currentStatus: "processing" });
  });

  it("may be said again", () => {
    given(...processing(), jobReleased())
      .when(releaseJob())
      .recordsNothing();
  });

  for (const [status, history] of each({ ...ended, paused, pending })) {
    it(`is refused where no worker holds it: ${status}`, () => {
      given(...history())
        .when(releaseJob())
        .isRefused({ code: "lease-lost", currentStatus: status });
    });
  }
});

describe("abandoning a job that was not taken over too often", () => {
  for (const [status, history] of each({ pending, processing, paused })) {
    it(`is refused: ${status}`, () => {
      given(...history())
        .when(endTakeovers())
        .isRefused({ code: "turn-not-open", currentStatus: status });
    });
  }

  it("is refused for an attempt that is over, and after it was given back", () => {
    given(...wornOut(), jobRetryScheduled())
      .when(endTakeovers())
      .isRefused({ code: "turn-not-open", currentStatus: "retrying" });
    given(...wornOut(), jobReleased())
      .when(endTakeovers())
      .isRefused({ code: "turn-not-open", currentStatus: "processing" });
  });
});
