import { expect } from "chai";
import type { EventLog, JobRef } from "../../../src/event-log/event-log.ts";
import { createSlowStart } from "../../../src/turns/scheduler/slow-start.ts";
import { jobCreated } from "../../support/examples.ts";
import { happen } from "../../support/happen.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

const jobsOf = (tenant: string, count: number): JobRef[] =>
  Array.from({ length: count }, (_, index) => ({ tenant, jobId: `job-${index}` }));

describe("the missing turns of a tenant", () => {
  let log: EventLog;
  beforeEach(() => {
    log = createMemoryEventLog();
  });
  const begin = (job: JobRef | undefined) => happen(log, job ?? expect.fail("There is none."), [jobCreated()]);

  it("are put all, where they are not very many", async () => {
    const slowStart = createSlowStart(log);
    for (const _ of ["the first time", "the second"]) {
      const isChosen = await slowStart.choose();
      expect(jobsOf("shop", 250).filter(isChosen)).to.have.length(250);
      expect(slowStart.isPartial()).to.equal(false);
    }
  });

  it("are put a few hundred each time, and others each time, as long as none of them begins", async () => {
    const slowStart = createSlowStart(log);
    const seen = new Set<JobRef>();
    const missing = jobsOf("shop", 2500);
    for (let time = 0; time < 5; time += 1) {
      const chosen = missing.filter(await slowStart.choose());
      expect(chosen.length).to.be.within(150, 250);
      expect(slowStart.isPartial()).to.equal(true);
      for (const job of chosen) seen.add(job);
      expect(await slowStart.haveBegun()).to.equal(false);
    }
    expect(seen.size).to.be.greaterThan(750);
  });

  it("are put ten times as many once half of those that are asked have begun", async () => {
    const slowStart = createSlowStart(log);
    const missing = jobsOf("shop", 12_500);
    const put = missing.filter(await slowStart.choose());
    await begin(missing.at(-1));
    expect(await slowStart.haveBegun()).to.equal(false);
    for (const job of put.slice(0, 4)) await begin(job);
    expect(await slowStart.haveBegun()).to.equal(false);
    await begin(put[7]);
    expect(await slowStart.haveBegun()).to.equal(true);
    const more = missing.slice(250).filter(await slowStart.choose());
    expect(more.length).to.be.within(2200, 2500);
    expect(await slowStart.haveBegun()).to.equal(false);
    for (const job of more.slice(0, 5)) await begin(job);
    expect(missing.slice(2750).filter(await slowStart.choose())).to.have.length(9750);
    expect(await slowStart.haveBegun()).to.equal(false);
  });

  it("are put however many another tenant misses", async () => {
    const slowStart = createSlowStart(log);
    const isChosen = await slowStart.choose();
    expect(jobsOf("shop", 5000).filter(isChosen)).to.have.length(250);
    expect(jobsOf("bakery", 250).filter(isChosen)).to.have.length(250);
  });
});
