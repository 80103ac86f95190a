import { expect } from "chai";
import { createLeftOut } from "../../src/erasure/left-out.ts";
import { createRetention } from "../../src/erasure/retention.ts";
import { createSweeper } from "../../src/erasure/sweeper.ts";
import { Archived, UndecodableEvent } from "../../src/event-log/log-failures.ts";
import type { PollLoop } from "../../src/process/poll-loop.ts";
import { eventually } from "../support/eventually.ts";

const refOf = (jobId: string) => ({ tenant: "default", jobId });

describe("What cannot be erased", () => {
  let asked: string[];
  let failed: string[];
  let loop: PollLoop | null = null;

  beforeEach(() => {
    [asked, failed] = [[], []];
  });
  afterEach(() => loop?.stop());

  /** Jobs without decisions: no erasure of them is ever recorded. */
  const logWhere = (fails: (jobId: string) => Error | null) => ({
    readDecisions: async ({ jobId }: { jobId: string }) => {
      asked.push(jobId);
      const failure = fails(jobId);
      if (failure !== null) throw failure;
      return [];
    },
  });
  const broken = (failure: unknown) => expect.fail(`The round broke off: ${failure}`);

  it("holds up no other job that was kept long enough, and has its turn no more for a while", async () => {
    const archived = Array.from({ length: 70 }, (_, index) => `archived-${index}`);
    const jobs = [...archived, "young"].map(refOf);
    const log = logWhere((jobId) => (jobId === "young" ? null : new Archived("log-1-2.waybill", "it is not there")));
    const endedJobs = {
      now: async () => Date.now(),
      before: async (_: string, limit: number) => jobs.slice(0, limit),
      mailingsRestingBefore: async () => [],
      include: async () => true,
    };
    const reports = {
      erased: () => {},
      notErased: (_: unknown, why: unknown) => failed.push(`${why}`),
      failed: broken,
    };
    loop = createRetention({ log } as never, endedJobs, (work) => work(), { keptMs: 1, everyMs: 10 }, reports);
    loop.start();
    await eventually(() => expect(asked.filter((jobId) => jobId === "young")).to.have.lengthOf.above(2));
    expect(asked.filter((jobId) => jobId !== "young")).to.deep.equal(archived);
    expect(failed).to.have.lengthOf(70);
    expect(failed[0]).to.include("log-1-2.waybill");
  });

  it("holds up nothing else that requests have left behind, and comes back itself", async () => {
    const settled: string[] = [];
    const log = logWhere((jobId) => (jobId === "undecodable" ? new UndecodableEvent(17, "it is none") : null));
    const thingOf = (jobId: string) => ({
      job: refOf(jobId),
      attachment: null,
      settle: () => void settled.push(jobId),
    });
    const things = {
      unsettled: async () => ["undecodable", "leftover"].filter((jobId) => !settled.includes(jobId)).map(thingOf),
    };
    const ports = {
      log: { ...log, append: async () => 1 },
      contentStore: { get: async () => null, erase: async () => {} },
    };
    const notErased = ({ job }: { job: { jobId: string } }) => failed.push(job.jobId);
    const reports = { erased: () => {}, notErased, failed: broken };
    loop = createSweeper(ports as never, things, { olderThanMs: 1, everyMs: 10 }, reports);
    loop.start();
    await eventually(() => expect(failed).to.have.lengthOf.above(2));
    expect(settled).to.deep.equal(["leftover"]);
    expect(new Set(failed)).to.deep.equal(new Set(["undecodable"]));
  });

  it("is remembered for a time, and only so much of it", async () => {
    const leftOut = createLeftOut(50, 2);
    for (const jobId of ["one", "two", "three"]) leftOut.add(refOf(jobId));
    expect([leftOut.has(refOf("one")), leftOut.has(refOf("three")), leftOut.size()]).to.deep.equal([false, true, 2]);
    await eventually(() => expect(leftOut.size()).to.equal(0));
    expect(leftOut.has(refOf("three"))).to.equal(false);
  });
});
