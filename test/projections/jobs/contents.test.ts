import { expect } from "chai";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import type { JobContent } from "../../../src/content/content-store.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { jobCreated, jobFailed, jobStarted, recipientFailed, tooManyFailures } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

describe("what a job sends, in the read model", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  const createdWith = async (content: Partial<JobContent> | null): Promise<JobRef> => {
    const job = newJob();
    if (content !== null) await side.storeContent(job, content);
    await side.happens(job, jobCreated());
    await side.caughtUp("jobs");
    return job;
  };
  const rowOf = async ({ jobId }: JobRef): Promise<Readonly<Record<string, unknown>>> => {
    const row: object = await side.db("email_jobs").where({ id: jobId }).first();
    return { ...row };
  };
  const shown = async (job: JobRef) => (await createJobQueries(side.db).find(job)).job;

  it("is the HTML part where there is one, else the text", async () => {
    const both = await createdWith({ html: "<p>1</p>", text: "1" });
    const text = await createdWith({ html: null, text: "2" });
    expect(await rowOf(both)).to.include({ body: "<p>1</p>" });
    expect(await rowOf(text)).to.include({ body: "2" });
  });

  it("keeps every character as it is", async () => {
    const odd = "Grüße 🎉 \\ ' \" \u0000 ? ?? :name \r\n <b>%_</b>";
    const job = await createdWith({ subject: odd, name: odd, html: odd, metadata: { [odd]: odd } });
    expect(await shown(job)).to.deep.include({ subject: odd, name: odd, metadata: { [odd]: odd } });
    expect(await rowOf(job)).to.include({ subject: odd, body: odd });
  });

  it("names the recipients as a JSON array of addresses", async () => {
    const job = await createdWith({
      recipients: [{ email: "ada@example.com" }, { email: "bob@example.com", variables: { name: "Bob" } }],
    });
    expect(JSON.parse(String((await rowOf(job))["recipients"]))).to.deep.equal(["ada@example.com", "bob@example.com"]);
  });

  it("is gone where the content was erased, and the job is still there", async () => {
    const job = await createdWith(null);
    expect(await shown(job)).to.deep.include({ subject: null, name: null, metadata: {}, status: "queued" });
    expect(await rowOf(job)).to.include({ subject: null, body: null, recipients: null, status: "queued" });
  });

  it("is found, with what became of it, under the names that reporting tools know", async () => {
    const job = await createdWith({});
    await side.happens(job, jobStarted(), recipientFailed(), recipientFailed({ recipient: 1 }), jobFailed());
    await side.caughtUp("jobs");
    const found = await shown(job);
    expect(await rowOf(job)).to.deep.equal({
      id: job.jobId,
      subject: "Your invoice",
      body: "<p>Hello</p>",
      recipients: '["0@example.com","1@example.com","2@example.com"]',
      status: "failed",
      totalEmails: 3,
      sentEmails: 0,
      failedEmails: 2,
      createdAt: new Date(String(found?.createdAt)),
      startedAt: new Date(String(found?.startedAt)),
      completedAt: new Date(String(found?.completedAt)),
      error: tooManyFailures.message,
    });
  });
});
