import { expect } from "chai";
import { createMemoryEventLog } from "../../src/event-log/memory-event-log.ts";
import { watchLease } from "../../src/workers/lease.ts";
import { job, jobCancelled } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { processing } from "../support/histories.ts";

describe("a lease that was confirmed a moment ago, when a decision about the job is heard of", () => {
  it("counts for nothing until the log has answered anew", async () => {
    const log = createMemoryEventLog();
    const leaseSequence = await happen(log, job, processing());
    let answer: () => void = () => {};
    let answering = Promise.resolve();
    const lastDecision = async (): Promise<number> => {
      await answering;
      return await log.lastDecision(job);
    };
    const lease = watchLease({ ...log, lastDecision }, job, leaseSequence, new AbortController().signal);
    expect(await lease.confirmLately()).to.equal(true);

    answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await happen(log, job, [jobCancelled()]);
    expect(lease.isHeld(), "what is known without asking").to.equal(true);
    const confirmed = lease.confirmLately();
    answer();
    expect(await confirmed).to.equal(false);
    lease.end();
  });
});
