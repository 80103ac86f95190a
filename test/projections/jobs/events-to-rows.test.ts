import { expect } from "chai";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createJobQueries } from "../../../projections/jobs/queries.ts";
import type { JobRecord } from "../../../src/domain/job/job-record.ts";
import type { EventOfJob } from "../../../src/domain/job/job-view.ts";
import {
  earlier,
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobPaused,
  jobResumed,
  jobRetried,
  jobRetryScheduled,
  jobStarted,
  later,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientsClaimed,
  recipientsReleased,
  recipientUnknown,
  smtpUnavailable,
  tooManyFailures,
} from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

describe("a job in the read model", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  /** What the read model shows of a job after these events, each of them in a batch of its own. */
  const shownAfter = async (...events: readonly EventOfJob[]): Promise<JobRecord> => {
    const job = newJob();
    await side.storeContent(job);
    for (const event of events) {
      await side.happens(job, event);
      await side.caughtUp("jobs");
    }
    const { job: shown, readSequence } = await createJobQueries(side.db).find(job);
    expect(readSequence).to.equal((await side.log.state()).lastSequence);
    if (shown === null) throw new Error("The job is not there.");
    return shown;
  };

  const created = jobCreated({}, earlier);
  const processing = [created, jobStarted()] as const;

  it("is shown as it was asked for once it is created", async () => {
    const { id, ...shown } = await shownAfter(created);
    expect(id).to.be.a("string");
    expect(shown).to.deep.equal({
      type: "email.send",
      status: "queued",
      priority: "normal",
      name: "November",
      subject: "Your invoice",
      metadata: { campaign: "11" },
      progress: {
        total: 3,
        sent: 0,
        failed: 0,
        pending: 3,
        deferred: 0,
        unknown: 0,
        suppressed: 0,
        bounced: 0,
        complained: 0,
      },
      attempt: 0,
      maxAttempts: 4,
      createdAt: earlier,
      scheduledAt: null,
      startedAt: null,
      completedAt: null,
      nextAttemptAt: null,
      error: null,
      requeueOf: null,
      mailingId: null,
    });
  });

  it("is scheduled where it has a time", async () => {
    expect(await shownAfter(jobCreated({ scheduledAt: later }))).to.include({
      status: "scheduled",
      scheduledAt: later,
    });
  });

  it("is queued, then in process from its first attempt on", async () => {
    expect(await shownAfter(created)).to.include({ status: "queued", attempt: 0 });
    expect(await shownAfter(...processing)).to.include({ status: "processing", attempt: 1, startedAt: now });
  });

  it("waits for its next attempt and says why", async () => {
    const shown = await shownAfter(...processing, jobRetryScheduled());
    expect(shown).to.include({ status: "retrying", nextAttemptAt: later });
    expect(shown.error).to.deep.equal(smtpUnavailable);
  });

  it("forgets the error when the next attempt begins", async () => {
    const shown = await shownAfter(...processing, jobRetryScheduled(), jobStarted({ attempt: 2 }));
    expect(shown).to.include({ status: "processing", attempt: 2, nextAttemptAt: null, error: null });
  });

  it("is paused, and goes on", async () => {
    expect(await shownAfter(created, jobPaused())).to.include({ status: "paused" });
    expect(await shownAfter(created, jobPaused(), jobResumed())).to.include({ status: "queued", attempt: 0 });
  });

  it("is completed with a time", async () => {
    expect(await shownAfter(...processing, jobCompleted())).to.include({ status: "completed", completedAt: now });
  });

  it("is failed with a time and a reason", async () => {
    const shown = await shownAfter(...processing, jobFailed());
    expect(shown).to.include({ status: "failed", completedAt: now });
    expect(shown.error).to.deep.equal(tooManyFailures);
  });

  it("is cancelled with a time", async () => {
    expect(await shownAfter(created, jobCancelled())).to.include({ status: "cancelled", completedAt: now });
  });

  it("counts each recipient in the state that it is in", async () => {
    const claimed = [...processing, recipientsClaimed()] as const;
    const progressAfter = async (...events: readonly EventOfJob[]) => (await shownAfter(...events)).progress;
    expect(await progressAfter(...claimed)).to.include({ pending: 3, total: 3 });
    expect(await progressAfter(...claimed, recipientsReleased())).to.include({ pending: 3, total: 3 });
    const progress = await progressAfter(
      ...claimed,
      recipientSent({ recipient: 0 }),
      recipientFailed({ recipient: 1 }),
      recipientDeferred({ recipient: 2 }),
    );
    expect(progress).to.deep.equal({
      total: 3,
      sent: 1,
      failed: 1,
      pending: 0,
      deferred: 1,
      unknown: 0,
      suppressed: 0,
      bounced: 0,
      complained: 0,
    });
    expect(await progressAfter(...claimed, recipientUnknown({ recipient: 1 }))).to.include({ pending: 2, unknown: 1 });
  });

  it("counts a recipient once, however often an outcome of it is told", async () => {
    const twice = [recipientSent({ recipient: 0 }), recipientSent({ recipient: 0 }), recipientFailed({ recipient: 0 })];
    expect((await shownAfter(...processing, ...twice)).progress).to.include({ sent: 1, failed: 0, pending: 2 });
  });

  it("begins anew with a retry, and keeps the sent recipients", async () => {
    const ended = [recipientSent({ recipient: 0 }), recipientFailed({ recipient: 1 }), jobFailed()];
    const shown = await shownAfter(...processing, ...ended, jobRetried());
    expect(shown).to.include({ status: "queued", attempt: 0, completedAt: null, error: null, startedAt: now });
    expect(shown.progress).to.include({ sent: 1, failed: 0, pending: 2 });
  });

  it("is not changed by an outcome of a run that is over, but by a mail that left", async () => {
    const retried = [...processing, jobFailed(), jobRetried()] as const;
    const late = { run: 1, attempt: 1 } as const;
    const before = (await shownAfter(...retried)).progress;
    expect((await shownAfter(...retried, recipientFailed({ ...late, recipient: 0 }))).progress).to.deep.equal(before);
    expect((await shownAfter(...retried, recipientDeferred({ ...late, recipient: 0 }))).progress).to.deep.equal(before);
    expect((await shownAfter(...retried, recipientSent({ ...late, recipient: 0 }))).progress).to.include({ sent: 1 });
  });

  it("is not there where it was never created", async () => {
    const job = newJob();
    await side.happens(job, recipientSent());
    await side.caughtUp("jobs");
    expect((await createJobQueries(side.db).find(job)).job).to.equal(null);
  });

  it("is not there for another tenant", async () => {
    const job = newJob("acme");
    await side.happens(job, jobCreated());
    await side.caughtUp("jobs");
    const queries = createJobQueries(side.db);
    expect((await queries.find(job)).job?.id).to.equal(job.jobId);
    expect((await queries.find({ ...job, tenant: "globex" })).job).to.equal(null);
  });

  it("keeps what it was asked for whatever happens to it", async () => {
    expect(await shownAfter(...processing, recipientSent(), jobCompleted())).to.deep.include({
      subject: "Your invoice",
      name: "November",
      metadata: { campaign: "11" },
      createdAt: earlier,
      maxAttempts: 4,
    });
  });
});
