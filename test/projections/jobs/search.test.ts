import { expect } from "chai";
import { everyJob, type JobListOptions } from "../../../projections/jobs/list-options.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries, type JobList } from "../../../projections/jobs/queries.ts";
import { createDatabase } from "../../../src/database/database.ts";
import { isDatabaseTrouble } from "../../../src/database/database-failure.ts";
import type { JobRecord } from "../../../src/domain/job/job-record.ts";
import { jobCompleted, jobCreated, jobStarted } from "../../support/examples.ts";
import { failureOf } from "../../support/failure-of.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const at = (minute: number): string => `2026-11-21T09:${String(minute).padStart(2, "0")}:00.000Z`;

const jobs = 40;
/** So few that every search is cut many times. */
const bounds = { inIndex: 7, inRows: 4 };

describe("a search that looks through more jobs than one answer may", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    for (let each = 0; each < jobs; each += 1) {
      const job = newJob();
      const [subject, type] =
        each % 3 === 0 ? (["Invoice", "report.export"] as const) : (["Offer", "email.send"] as const);
      await side.storeContent(job, { subject: `${subject} ${each}` });
      // Two at each instant, and some that have not ended.
      const ended = each % 4 === 0 ? [] : [jobCompleted({}, at(50 + (each % 5)))];
      await side.happens(job, jobCreated({ type }, at(each >> 1)), jobStarted(), ...ended);
    }
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  const list = (options: Partial<JobListOptions>, within = bounds): Promise<JobList> =>
    createJobQueries(side.db, side.db, within).list("default", { ...everyJob, ...options });

  const inBetween = { createdAfter: at(8), createdBefore: at(16) };
  const isInBetween = ({ createdAt }: JobRecord): boolean => createdAt > at(8) && createdAt < at(16);
  for (const sortBy of ["createdAt", "completedAt"] as const) {
    const searches = [
      { asked: { q: "voice" }, isWanted: ({ subject }: JobRecord) => subject?.startsWith("Invoice"), isCounted: false },
      {
        asked: { type: "report.export" },
        isWanted: ({ type }: JobRecord) => type === "report.export",
        isCounted: true,
      },
      // By creation that is a range of an index.
      ...(sortBy === "createdAt" ? [] : [{ asked: inBetween, isWanted: isInBetween, isCounted: false }]),
    ] as const;
    for (const order of ["asc", "desc"] as const) {
      for (const statuses of [[], ["completed"], ["processing", "completed"]] as const) {
        for (const { asked, isWanted, isCounted } of searches) {
          const which = statuses.length === 0 ? "in any status" : `that is ${statuses.join(" or ")}`;
          const how = `with ${Object.keys(asked).join(" and ")}, by ${sortBy} ${order}`;
          it(`goes on where it was, and finds each job ${which} once, in order, ${how}`, async () => {
            const options = { sortBy, order, statuses, pageSize: 3 };
            const all = (await list({ ...options, pageSize: 100 })).jobs;
            const wanted = all.filter(isWanted);
            expect(wanted).to.have.length.greaterThan(2);
            const found: JobRecord[] = [];
            let answers = 0;
            for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
              const page: JobList = await list({ ...options, ...asked, cursor });
              expect(page.total).to.equal(isCounted ? wanted.length : null);
              found.push(...page.jobs);
              cursor = page.nextCursor;
              answers += 1;
            }
            expect(found).to.deep.equal(wanted);
            expect(answers, "answers").to.be.greaterThan(wanted.length / 3 + 1);
          });
        }
      }
    }
  }

  it("fills the pages that are asked for by number where it tells the total", async () => {
    const all = (await list({})).jobs.filter(({ type }) => type === "report.export");
    for (const page of [2, 4, 5]) {
      const found = await list({ type: "report.export", pageSize: 3, page });
      expect(found.jobs, `page ${page}`).to.deep.equal(all.slice(3 * (page - 1), 3 * page));
      expect(found.total).to.equal(all.length);
    }
  });

  it("ends at once where the total says that there is nothing to find", async () => {
    expect(await list({ type: "webhook.deliver" })).to.deep.include({ jobs: [], total: 0, nextCursor: null });
  });

  it("never takes a connection of the lists", async () => {
    const nowhere = createDatabase("mysql://nobody@127.0.0.1:1/nowhere");
    const queries = createJobQueries(side.db, nowhere);
    const byEnd = { sortBy: "completedAt" } as const;
    for (const asked of [{ q: "a" }, { type: "email.send" }, { ...byEnd, createdAfter: at(1) }] as const) {
      const failure = await failureOf(queries.list("default", { ...everyJob, ...asked }));
      expect(isDatabaseTrouble(failure), JSON.stringify(asked)).to.equal(true);
    }
    for (const asked of [{}, byEnd, { createdAfter: at(1) }]) {
      expect((await queries.list("default", { ...everyJob, ...asked })).jobs).to.have.length.greaterThan(0);
    }
    await nowhere.destroy();
  });

  it("tells the total where it has looked through all there is", async () => {
    const found = await list({ q: "voice", pageSize: 3 }, { inIndex: jobs + 1, inRows: 4 });
    expect(found.jobs).to.have.lengthOf(3);
    expect(found.total).to.equal(Math.ceil(jobs / 3));
  });

  it("counts jobs between two instants as far as that is quick", async () => {
    const first = { createdBefore: at(3) };
    expect((await list(first)).total).to.equal(6);
    const more = { createdBefore: at(4) };
    expect(await list(more)).to.include({ total: null });
    expect((await list(more)).jobs).to.have.lengthOf(8);
    expect((await list({ createdBefore: at(2), type: "email.send" })).total).to.equal(2);
    expect((await list({ createdBefore: at(2), type: "webhook.deliver" })).total).to.equal(0);
    expect((await list({ createdBefore: at(3), type: "email.send" })).total).to.equal(null);
  });
});
