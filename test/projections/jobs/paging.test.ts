import { expect } from "chai";
import { everyJob, InvalidCursor, type JobListOptions } from "../../../projections/jobs/list-options.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries, type JobList } from "../../../projections/jobs/queries.ts";
import type { JobRecord } from "../../../src/domain/job/job-record.ts";
import { earlier, jobCancelled, jobCompleted, jobCreated, jobStarted, later, now } from "../../support/examples.ts";
import { failureOf } from "../../support/failure-of.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const sorts = ["createdAt", "completedAt"] as const;
const orders = ["asc", "desc"] as const;

describe("going through a list by cursor", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    // Few instants and many jobs: most tie with others, and some have not ended.
    for (const createdAt of [later, earlier, now]) {
      for (const endedAt of [null, now, later, now, null]) {
        await side.happens(newJob(), jobCreated({}, createdAt), jobStarted());
        const ending = createdAt === now ? jobCancelled : jobCompleted;
        await side.happens(newJob(), jobCreated({}, createdAt), ...(endedAt === null ? [] : [ending({}, endedAt)]));
      }
    }
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  const list = (options: Partial<JobListOptions>): Promise<JobList> =>
    createJobQueries(side.db).list("default", { ...everyJob, ...options });

  /** Page after page until there is none; each says the same total. */
  const goThrough = async (options: Partial<JobListOptions>): Promise<readonly JobRecord[]> => {
    const seen: JobRecord[] = [];
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: JobList = await list({ ...options, cursor });
      expect(page.jobs).to.have.length.greaterThan(0);
      expect(page.total).to.equal((await list(options)).total);
      seen.push(...page.jobs);
      cursor = page.nextCursor;
    }
    return seen;
  };

  for (const sortBy of sorts) {
    for (const order of orders) {
      for (const statuses of [[], ["completed"], ["processing", "completed", "queued", "cancelled"]] as const) {
        const which = statuses.length === 0 ? "all jobs" : `jobs that are ${statuses.join(" or ")}`;
        it(`meets ${which} once and in order, by ${sortBy} ${order}`, async () => {
          const whole = (await list({ sortBy, order, statuses })).jobs;
          expect(whole).to.have.length.greaterThan(5);
          expect(whole).to.deep.equal([...whole].sort(by(sortBy, order)));
          for (const pageSize of [1, 3, 4]) {
            expect(await goThrough({ sortBy, order, statuses, pageSize })).to.deep.equal(whole);
          }
        });
      }
    }
  }

  it("is not thrown off by jobs that come in meanwhile", async () => {
    const first = await list({ pageSize: 5 });
    const rest = (await list({})).jobs.slice(5);
    await side.happens(newJob(), jobCreated({}, later));
    await side.caughtUp("jobs");
    expect((await list({ cursor: first.nextCursor })).jobs).to.deep.equal(rest);
  });

  it("is refused with a cursor that no list made, or a list in another order", async () => {
    const { nextCursor } = await list({ pageSize: 2 });
    const forged = (...parts: readonly unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");
    const wrong: readonly Partial<JobListOptions>[] = [
      { cursor: "" },
      { cursor: "nonsense" },
      { cursor: `${nextCursor}x` },
      { cursor: forged() },
      { cursor: forged("createdAt", "desc", "yesterday", "id", 1) },
      { cursor: forged("createdAt", "desc", null, "id", 1) },
      { cursor: forged("createdAt", "desc", "+275760-09-13T00:00:00.000Z", "id", 1) },
      { cursor: forged("createdAt", "desc", "-000001-01-01T00:00:00.000Z", "id", 1) },
      { cursor: forged("createdAt", "desc", now, 7, 1) },
      { cursor: forged("createdAt", "desc", now, "id", "1") },
      { cursor: nextCursor, order: "asc" },
      { cursor: nextCursor, sortBy: "completedAt" },
    ];
    for (const options of wrong) {
      expect(await failureOf(list(options)), JSON.stringify(options)).to.be.instanceOf(InvalidCursor);
    }
  });
});

/** Jobs that have not ended are the smallest by their end. */
const by =
  (sortBy: "createdAt" | "completedAt", order: "asc" | "desc") =>
  (one: JobRecord, other: JobRecord): number => {
    const [a, b] = [one, other].map((job) => `${job[sortBy] ?? ""}/${job.id}`) as [string, string];
    return (a < b ? -1 : 1) * (order === "asc" ? 1 : -1);
  };
