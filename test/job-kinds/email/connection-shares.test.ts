import { expect } from "chai";
import { createConnectionShares } from "../../../src/job-kinds/email/connection-shares.ts";

describe("The connections that jobs share", () => {
  const never = (): Promise<never> => new Promise(() => {});

  it("are all one job's while it is alone, however many it uses", () => {
    const job = createConnectionShares(10).join();
    expect(job.window()).to.equal(10);
    for (let mail = 0; mail < 4; mail += 1) void job.using(never);
    expect(job.window()).to.equal(10);
  });

  it("are divided evenly among jobs that use all of them", () => {
    const shares = createConnectionShares(10);
    const jobs = Array.from({ length: 4 }, () => shares.join());
    for (const job of jobs) for (let mail = 0; mail < 2; mail += 1) void job.using(never);
    // Two are left over, for the first worker that asks.
    expect(jobs.map((job) => job.window())).to.deep.equal([4, 4, 4, 4]);
    for (let mail = 0; mail < 2; mail += 1) void jobs[0]?.using(never);
    expect(jobs.map((job) => job.window())).to.deep.equal([4, 2, 2, 2]);
  });

  it("are one at least for each job, where there are more jobs than connections", () => {
    const shares = createConnectionShares(2);
    const jobs = Array.from({ length: 3 }, () => shares.join());
    for (const job of jobs) void job.using(never);
    expect(jobs.map((job) => job.window())).to.deep.equal([1, 1, 1]);
  });

  it("come back with the mail's end, failed or not, and with the job's", async () => {
    const shares = createConnectionShares(4);
    const one = shares.join();
    const other = shares.join();
    for (let mail = 0; mail < 2; mail += 1) void other.using(never);
    await one.using(async () => {});
    const failing = one.using(() => Promise.reject(new Error("refused")));
    await failing.catch(() => {});
    expect(one.window()).to.equal(2);
    one.leave();
    expect(other.window()).to.equal(4);
  });
});
