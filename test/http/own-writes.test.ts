import { expect } from "chai";
import { createOwnWrites } from "../../src/http/routes/ask-read-model.ts";

const job = (jobId: string, tenant = "default") => ({ tenant, jobId });

describe("What a process remembers of its own decisions", () => {
  it("is the last one about each job and each tenant", () => {
    const ownWrites = createOwnWrites();
    ownWrites.remember(job("a"), 3);
    ownWrites.remember(job("b"), 9);
    ownWrites.remember(job("a"), 7);
    expect(ownWrites.ofJob(job("a"))).to.equal(7);
    expect(ownWrites.ofTenant("default")).to.equal(9);
  });

  it("grows with what it shows of a job, whichever answer comes first, and asks no list to wait for that", () => {
    const ownWrites = createOwnWrites();
    ownWrites.remember(job("a"), 3);
    ownWrites.show(job("a"), 9);
    ownWrites.show(job("a"), 7);
    ownWrites.remember(job("a"), 5);
    expect(ownWrites.ofJob(job("a"))).to.equal(9);
    expect(ownWrites.ofTenant("default")).to.equal(5);
  });

  it("is nothing about jobs and tenants of others", () => {
    const ownWrites = createOwnWrites();
    ownWrites.remember(job("a"), 3);
    expect(ownWrites.ofJob(job("a", "other"))).to.equal(0);
    expect(ownWrites.ofTenant("other")).to.equal(0);
  });

  it("does not grow without end: the jobs that were decided about longest ago are forgotten", () => {
    const ownWrites = createOwnWrites();
    for (let sequence = 1; sequence <= 10_000; sequence += 1) ownWrites.remember(job(`${sequence}`), sequence);
    ownWrites.remember(job("1"), 10_001);
    ownWrites.remember(job("new"), 10_002);
    expect(ownWrites.ofJob(job("1"))).to.equal(10_001);
    expect(ownWrites.ofJob(job("2"))).to.equal(0);
    expect(ownWrites.ofJob(job("new"))).to.equal(10_002);
  });
});
