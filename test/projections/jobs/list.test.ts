import { expect } from "chai";
import { everyJob, type JobListOptions } from "../../../projections/jobs/list-options.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries, type JobList } from "../../../projections/jobs/queries.ts";
import type { EventOfJob } from "../../../src/domain/job/job-view.ts";
import { jobCancelled, jobCompleted, jobCreated, jobStarted } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const at = (minute: number): string => `2026-11-21T09:${String(minute).padStart(2, "0")}:00.000Z`;

describe("the list of a tenant's jobs", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
    await created("Invoice 1", 1);
    await created("invoice 2", 2, jobStarted());
    await created("100% off_", 3, jobStarted(), jobCompleted());
    await created("1000 off!", 4, jobCancelled());
    await created("Straße", 5);
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  const created = async (subject: string, minute: number, ...events: readonly EventOfJob[]): Promise<void> => {
    const job = newJob("acme");
    await side.storeContent(job, { subject, name: `label of ${minute}` });
    await side.happens(job, jobCreated({}, at(minute)), ...events);
    const same = { ...job, tenant: "globex", jobId: newJob().jobId };
    await side.storeContent(same, { subject: `Globex: ${subject}` });
    await side.happens(same, jobCreated({}, at(minute)));
  };
  const list = (options: Partial<JobListOptions> = {}, tenant = "acme"): Promise<JobList> =>
    createJobQueries(side.db).list(tenant, { ...everyJob, ...options });
  const subjects = async (options: Partial<JobListOptions>): Promise<readonly (string | null)[]> => {
    const { jobs, total } = await list(options);
    expect(total).to.equal(jobs.length);
    return jobs.map(({ subject }) => subject);
  };

  it("holds the jobs of the tenant and no others, the newest first", async () => {
    expect(await subjects({})).to.deep.equal(["Straße", "1000 off!", "100% off_", "invoice 2", "Invoice 1"]);
    expect((await list({}, "globex")).jobs.map(({ subject }) => subject?.startsWith("Globex"))).to.deep.equal(
      Array.from({ length: 5 }, () => true),
    );
    expect(await list({}, "nobody")).to.deep.include({ jobs: [], total: 0, nextCursor: null });
  });

  it("says how far the read model had come", async () => {
    expect((await list()).readSequence).to.equal((await side.log.state()).lastSequence);
  });

  it("holds jobs in one status, or in any of several", async () => {
    expect(await subjects({ statuses: ["queued"] })).to.deep.equal(["Straße", "Invoice 1"]);
    expect(await subjects({ statuses: ["cancelled", "completed", "processing", "cancelled"] })).to.deep.equal([
      "1000 off!",
      "100% off_",
      "invoice 2",
    ]);
    expect(await subjects({ statuses: ["paused"] })).to.deep.equal([]);
  });

  it("holds jobs created between two instants, neither included", async () => {
    expect(await subjects({ createdAfter: at(2), createdBefore: at(5) })).to.deep.equal(["1000 off!", "100% off_"]);
  });

  it("holds jobs of a type", async () => {
    expect(await subjects({ type: "email.send" })).to.have.length(5);
  });

  it("finds a part of the subject, whatever the case, or of the name", async () => {
    expect(await subjects({ q: "INVOICE" })).to.deep.equal(["invoice 2", "Invoice 1"]);
    expect(await subjects({ q: "of 4" })).to.deep.equal(["1000 off!"]);
    expect(await subjects({ q: "invoice", statuses: ["queued"] })).to.deep.equal(["Invoice 1"]);
    expect(await subjects({ q: "globex" })).to.deep.equal([]);
  });

  it("takes what would be a wildcard for the character that it is", async () => {
    expect(await subjects({ q: "100%" })).to.deep.equal(["100% off_"]);
    expect(await subjects({ q: "off_" })).to.deep.equal(["100% off_"]);
    expect(await subjects({ q: "off!" })).to.deep.equal(["1000 off!"]);
    expect(await subjects({ q: "\\" })).to.deep.equal([]);
    expect(await subjects({ q: "' OR '1'='1" })).to.deep.equal([]);
  });

  it("comes in pages by number, which tell the total", async () => {
    const page = async (number: number) => {
      const { jobs, total } = await list({ page: number, pageSize: 2 });
      return { subjects: jobs.map(({ subject }) => subject), total };
    };
    expect(await page(1)).to.deep.equal({ subjects: ["Straße", "1000 off!"], total: 5 });
    expect(await page(3)).to.deep.equal({ subjects: ["Invoice 1"], total: 5 });
    expect(await page(4)).to.deep.equal({ subjects: [], total: 5 });
  });
});
