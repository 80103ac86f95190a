import { expect } from "chai";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createLogQueries } from "../../../../projections/jobs/recipients/log-queries.ts";
import type { LogEntry } from "../../../../projections/jobs/recipients/log-rows.ts";
import type { EventOfJob } from "../../../../src/domain/job/job-view.ts";
import { placeOf } from "../../../../src/event-log/place.ts";
import {
  connectionLost,
  greylisted,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobRetried,
  jobStarted,
  later,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientsClaimed,
  recipientUnknown,
  rejectedMailbox,
} from "../../../support/examples.ts";
import { newJob } from "../../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";

describe("the logs of a job", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  const everything = { status: null, email: null, after: null, limit: 100 };

  const logsAfter = async (...events: readonly EventOfJob[]): Promise<readonly LogEntry[]> => {
    const job = newJob();
    await side.storeContent(job);
    await side.happens(job, jobCreated(), ...events);
    await side.caughtUp("jobs");
    const { entries, readSequence } = await createLogQueries(side.db).list(job, everything);
    expect(readSequence).to.equal((await side.log.state()).lastSequence);
    return entries;
  };

  it("tell of a mail that was sent, and what the mail server answered", async () => {
    const [entry, ...rest] = await logsAfter(recipientSent({ recipient: 1 }));
    expect(rest).to.deep.equal([]);
    expect(entry).to.deep.equal({
      id: `${(await side.log.state()).lastSequence}.0`,
      recipient: 1,
      email: "1@example.com",
      status: "success",
      attempt: 1,
      run: 1,
      sentAt: now,
      createdAt: now,
      messageId: "<0.7f3c@waybill.localhost>",
      response: "250 2.0.0 OK",
      error: null,
    });
  });

  it("tell of a mail that was refused, with the answer", async () => {
    const [entry] = await logsAfter(recipientFailed({ recipient: 2 }, later));
    expect(entry).to.include({ email: "2@example.com", status: "failed", sentAt: null, createdAt: later });
    expect(entry).to.include({ messageId: null, response: rejectedMailbox.message });
    expect(entry?.error).to.deep.equal({ code: "rejected", message: rejectedMailbox.message });
  });

  it("tell of a mail that was put off", async () => {
    const [entry] = await logsAfter(recipientDeferred());
    expect(entry).to.include({ status: "deferred", response: greylisted.message, sentAt: null });
    expect(entry?.error).to.deep.equal({ code: "deferred", message: greylisted.message });
  });

  it("tell of a mail whose fate is unknown, without an answer where there was none", async () => {
    const [entry] = await logsAfter(recipientUnknown());
    expect(entry).to.include({ status: "unknown", response: null, sentAt: null });
    expect(entry?.error).to.deep.equal({ code: "connection-lost", message: connectionLost.message });
  });

  it("hold each attempt, and each run, in the order in which it happened", async () => {
    const entries = await logsAfter(
      jobStarted(),
      recipientsClaimed(),
      recipientDeferred({ recipient: 0, attempt: 1 }),
      recipientFailed({ recipient: 0, attempt: 2 }),
      jobFailed(),
      jobRetried(),
      recipientSent({ recipient: 0, run: 2 }),
      jobCompleted(),
    );
    expect(entries.map(({ status, run, attempt }) => [status, run, attempt])).to.deep.equal([
      ["deferred", 1, 1],
      ["failed", 1, 2],
      ["success", 2, 1],
    ]);
  });

  it("hold outcomes that came too late to count, too", async () => {
    const late = await logsAfter(recipientSent(), recipientFailed());
    expect(late.map(({ status }) => status)).to.deep.equal(["success", "failed"]);
  });

  it("know no address once the content was erased, nor of a recipient that the job does not have", async () => {
    const job = newJob();
    await side.happens(job, jobCreated(), recipientSent());
    const [beyond] = await logsAfter(recipientSent({ recipient: 3 }));
    const erased = await createLogQueries(side.db).list(job, everything);
    expect(erased.entries.map(({ email }) => email)).to.deep.equal([null]);
    expect(beyond?.email).to.equal(null);
  });

  it("are found under the names that reporting tools know", async () => {
    const job = newJob();
    await side.storeContent(job);
    const failed = await side.happens(job, jobCreated(), recipientFailed());
    const sent = await side.happens(job, recipientSent({ recipient: 1, attempt: 2 }));
    await side.caughtUp("jobs");
    const rows = await side.db("email_logs").where({ jobId: job.jobId }).orderBy("id").select();
    const at = new Date(now);
    expect(rows.map((row) => ({ ...row }))).to.deep.equal([
      {
        id: placeOf({ sequence: failed, index: 0 }),
        jobId: job.jobId,
        email: "0@example.com",
        status: "failed",
        attempt: 1,
        sentAt: null,
        error: rejectedMailbox.message,
        createdAt: at,
      },
      {
        id: placeOf({ sequence: sent, index: 0 }),
        jobId: job.jobId,
        email: "1@example.com",
        status: "success",
        attempt: 2,
        sentAt: at,
        error: null,
        createdAt: at,
      },
    ]);
  });
});
