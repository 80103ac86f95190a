import { expect } from "chai";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createRecipientQueries, type RecipientList } from "../../../../projections/jobs/recipients/queries.ts";
import type { EventOfJob } from "../../../../src/domain/job/job-view.ts";
import type { JobRef } from "../../../../src/event-log/event-log.ts";
import {
  earlier,
  jobContentErased,
  jobCreated,
  jobFailed,
  jobRetried,
  jobStarted,
  later,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientSuppressed,
  recipientsClaimed,
  rejectedMailbox,
} from "../../../support/examples.ts";
import { newJob } from "../../../support/happen.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../../support/read-side.ts";

type Recipient = RecipientList["recipients"][number];

const all = { statuses: [], email: null, page: 1, pageSize: 1000, cursor: null };

describe("a recipient of a job", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  const newMailing = async (...events: readonly EventOfJob[]): Promise<JobRef> => {
    const job = newJob();
    await side.storeContent(job);
    await side.happens(job, jobCreated({}, earlier), ...events);
    return job;
  };
  const recipientsOf = async (job: JobRef): Promise<readonly Recipient[]> => {
    await side.caughtUp("jobs");
    const { list } = await createRecipientQueries(side.db).ofJob(job, all);
    return list?.recipients ?? [];
  };
  const firstAfter = async (...events: readonly EventOfJob[]): Promise<Recipient | undefined> =>
    (await recipientsOf(await newMailing(...events)))[0];

  it("is pending from the moment the job is there, and while its mail is on its way", async () => {
    const expected = {
      recipient: 0,
      email: "0@example.com",
      status: "pending",
      attempts: 0,
      run: null,
      attempt: null,
      messageId: null,
      response: null,
      error: null,
      sentAt: null,
      bouncedAt: null,
      complainedAt: null,
      updatedAt: earlier,
    };
    expect(await firstAfter()).to.deep.equal(expected);
    expect(await firstAfter(jobStarted(), recipientsClaimed())).to.deep.equal(expected);
  });

  it("was sent once a mail server took it, with its answer", async () => {
    expect(await firstAfter(recipientSent({ attempt: 2 }))).to.deep.equal({
      recipient: 0,
      email: "0@example.com",
      status: "sent",
      attempts: 1,
      run: 1,
      attempt: 2,
      messageId: recipientSent().data.messageId,
      response: "250 2.0.0 OK",
      error: null,
      sentAt: now,
      bouncedAt: null,
      complainedAt: null,
      updatedAt: now,
    });
  });

  it("is counted for each attempt, put off or not", async () => {
    const putOff = [recipientDeferred(), recipientDeferred({ attempt: 2 }, later)];
    expect(await firstAfter(...putOff)).to.include({ status: "deferred", attempts: 2, attempt: 2, updatedAt: later });
    const claimedAgain = recipientsClaimed({ attempt: 3 });
    expect(await firstAfter(...putOff, claimedAgain)).to.include({ status: "pending", attempts: 2, attempt: 2 });
    const sent = await firstAfter(...putOff, claimedAgain, recipientSent({ attempt: 3 }));
    expect(sent).to.include({ status: "sent", attempts: 3, attempt: 3, error: null });
  });

  it("is pending again after a retry by hand, and still tells what was answered", async () => {
    const failed = [recipientFailed(), jobFailed(), jobRetried({}, later)];
    const { code, message } = rejectedMailbox;
    expect(await firstAfter(...failed)).to.deep.include({
      status: "pending",
      run: 1,
      attempts: 1,
      error: { code, message },
      updatedAt: later,
    });
    const sent = await firstAfter(...failed, recipientSent({ run: 2 }));
    expect(sent).to.include({ status: "sent", run: 2, attempts: 2, error: null });
  });

  it("stays as it was with the first final outcome; what a worker says later is history", async () => {
    const job = await newMailing(recipientSent(), recipientFailed({}, later));
    expect((await recipientsOf(job))[0]).to.include({ status: "sent", attempts: 1, sentAt: now, updatedAt: later });
    const { entries } = await createRecipientQueries(side.db).ofAddress("default", "0@example.com", {
      cursor: null,
      limit: 1,
    });
    expect(entries[0]?.history.map(({ status, counts }) => [status, counts])).to.deep.equal([
      ["sent", true],
      ["failed", false],
    ]);
  });

  it("that counts as failed tells of the mail that left after all", async () => {
    const late = await firstAfter(recipientFailed(), recipientSent());
    expect(late).to.include({ status: "failed", attempts: 2, sentAt: now, error: null });
  });

  it("was never tried where it was suppressed", async () => {
    const suppressed = await firstAfter(recipientSuppressed());
    expect(suppressed).to.include({ status: "suppressed", attempts: 0, response: null });
    expect(suppressed?.error?.code).to.equal("unsubscribe");
  });

  it("has no address where the content was erased before", async () => {
    const job = newJob();
    await side.happens(job, jobCreated(), recipientSent({ recipient: 2 }));
    const recipients = await recipientsOf(job);
    expect(recipients.map(({ email, status }) => [email, status])).to.deep.equal([
      [null, "pending"],
      [null, "pending"],
      [null, "sent"],
    ]);
  });

  it("gets no address back that was erased, whatever happens afterwards", async () => {
    const job = await newMailing(recipientDeferred(), jobContentErased({ recipients: [0] }));
    await side.caughtUp("jobs");
    await side.happens(job, recipientSent({ attempt: 2 }), recipientSent({ recipient: 1 }));
    const [first, second, third] = await recipientsOf(job);
    expect(first).to.include({ email: null, status: "sent", attempts: 2 });
    expect(second).to.include({ email: "1@example.com", status: "sent" });
    expect(third).to.include({ email: "2@example.com", status: "pending" });
    expect(await side.db("email_logs").where({ jobId: job.jobId }).orderBy("id").pluck("email")).to.deep.equal([
      null,
      null,
      "1@example.com",
    ]);
  });

  it("is of no concern where the job has none of its number, or was never created", async () => {
    expect(await recipientsOf(await newMailing(recipientSent({ recipient: 3 })))).to.have.length(3);
    const never = newJob();
    await side.happens(never, recipientSent());
    await side.caughtUp("jobs");
    expect((await createRecipientQueries(side.db).ofJob(never, all)).list).to.equal(null);
  });
});

describe("a rebuild of the recipients", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  it("makes the same rows as the live projection made one event after the other", async () => {
    const runner = side.startProjector(jobsProjector);
    for (const _ of [1, 2]) {
      const job = await side.mailing();
      await side.caughtUp("jobs");
      await side.happens(job, jobRetried({}, later), recipientSent({ run: 2, recipient: 1 }, later));
      await side.caughtUp("jobs");
    }
    await runner.stop();
    const live = await tablesOf(side.db, jobsProjector);
    await side.rebuild([jobsProjector]);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(live);
    expect(JSON.stringify(live)).to.include("1@example.com");
  });
});
