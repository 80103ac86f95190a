import { expect } from "chai";
import type { JobListOptions } from "../../../projections/jobs/list-options.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries, type JobList } from "../../../projections/jobs/queries.ts";
import { jobCompleted, jobCreated, jobStarted } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const at = (minute: number): string => `2026-11-21T09:${String(minute).padStart(2, "0")}:00.000Z`;

const jobs = 40;
/** So few that every search is cut many times. */
const bounds = { inIndex: 7, inRows: 4 };
const everything: JobListOptions = {
  statuses: [],
  type: null,
  mailing: null,
  createdAfter: null,
  createdBefore: null,
  q: null,
  page: 1,
  pageSize: 100,
  cursor: null,
  sortBy: "createdAt",
  order: "desc",
};

describe("a search that looks through more jobs than one answer may", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    for (let each = 0; each < jobs; each += 1) {
      const job = newJob();
      await side.storeContent(job, { subject: each % 3 === 0 ? `Invoice ${each}` : `Offer ${each}` });
      // Two at each instant, and some that have not ended.
      const ended = each % 4 === 0 ? [] : [jobCompleted({}, at(50 + (each % 5)))];
      await side.happens(job, jobCreated({}, at(each >> 1)), jobStarted(), ...ended);
    }
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  const list = (options: Partial<JobListOptions>, within = bounds): Promise<JobList> =>
    createJobQueries(side.db, side.db, within).list("default", { ...everything, ...options });

  for (const sortBy of ["createdAt", "completedAt"] as const) {
    for (const order of ["asc", "desc"] as const) {
      for (const statuses of [[], ["completed"], ["processing", "completed"]] as const) {
        const which = statuses.length === 0 ? "in any status" : `that is ${statuses.join(" or ")}`;
        it(`goes on where it was, and finds each job ${which} once, in order, by ${sortBy} ${order}`, async () => {
          const options = { sortBy, order, statuses, pageSize: 3 };
          const all = (await list({ ...options, pageSize: 100 })).jobs;
          const wanted = all.filter(({ subject }) => subject?.startsWith("Invoice"));
          expect(wanted).to.have.length.greaterThan(2);
          const found: JobList["jobs"][number][] = [];
          let answers = 0;
          for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
            const page: JobList = await list({ ...options, q: "voice", cursor });
            expect(page.total).to.equal(null);
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
    expect((await list({ createdBefore: at(2), type: "email.send" })).total).to.equal(4);
    expect((await list({ createdBefore: at(2), type: "report.export" })).total).to.equal(0);
    expect((await list({ createdBefore: at(3), type: "email.send" })).total).to.equal(null);
  });
});
