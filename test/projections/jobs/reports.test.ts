import { expect } from "chai";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import { toJobRecord } from "../../../src/domain/job/job-record.ts";
import { foldJobView } from "../../../src/domain/job/job-view.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { jobCompleted, jobCreated, jobFailed, jobRetried, jobStarted, resultStored } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { liveTables, openReadSide, type ReadSide, tablesOfBoth } from "../../support/read-side.ts";

describe("The row of a report", () => {
  let side: ReadSide;
  let job: JobRef;

  before(async () => {
    side = await openReadSide();
    job = newJob();
    await side.storeContent(job, { recipients: [] });
    side.startProjector(jobsProjector);
    await side.happens(job, jobCreated({ type: "report.export", total: 0 }), jobStarted());
  });
  after(() => side.cleanUp());

  const progress = async () => {
    await side.caughtUp("jobs");
    const found = await createJobQueries(side.db).find(job);
    const view = foldJobView((await side.log.readHistory(job)).map(({ event }) => event));
    const { name, subject, metadata } = found.job ?? { name: null, subject: null, metadata: {} };
    // Whichever it is asked of, the answer is the same.
    expect(found.job).to.deep.equal(view && toJobRecord(job.jobId, view, { name, subject, metadata }));
    return found.job?.progress;
  };

  it("counts the rows that are written, and no others before the end", async () => {
    expect(await progress()).to.include({ total: 0, sent: 0, pending: 0 });
    await side.happens(job, resultStored({ rows: 1000, sha256: null }));
    expect(await progress()).to.include({ total: 1000, sent: 1000, pending: 0, failed: 0 });
    await side.happens(job, resultStored({ rows: 2500, sha256: null }));
    expect(await progress()).to.include({ total: 2500, sent: 2500 });
  });

  it("never goes back, whatever an older worker tells late, or of an earlier run", async () => {
    await side.happens(job, resultStored({ rows: 1200, sha256: null }), resultStored({ run: 2, rows: 9000 }));
    expect(await progress()).to.include({ total: 2500, sent: 2500 });
  });

  it("begins anew with a retry by hand", async () => {
    await side.happens(job, jobFailed(), jobRetried({ run: 2 }));
    expect(await progress()).to.include({ total: 0, sent: 0 });
    await side.happens(job, resultStored({ run: 1, rows: 9999 }));
    expect(await progress()).to.include({ total: 0, sent: 0 });
    await side.happens(job, jobStarted({ run: 2 }), resultStored({ run: 2, rows: 10 }), jobCompleted({ run: 2 }));
    expect(await progress()).to.include({ total: 10, sent: 10, failed: 0 });
  });

  it("is the same after a rebuild", async () => {
    const live = await liveTables(side);
    await side.rebuild();
    expect(await tablesOfBoth(side.db)).to.deep.equal(live);
  });
});
