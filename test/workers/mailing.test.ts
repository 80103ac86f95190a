import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

describe("a mailing", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  before(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
    writeSide.startWorker(mailServer.url);
  });

  after(async () => {
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  beforeEach(() => mailServer.forgetMails());

  const ended = (job: { tenant: string; jobId: string }) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.completedAt).not.to.equal(null);
      return view;
    });

  /** How many were claimed at a time. */
  const claimsOf = async (job: JobRef): Promise<number[]> =>
    (await writeSide.log.readRecipients(job)).flatMap(({ event }) =>
      event.type === "RecipientsClaimed" ? [event.data.recipients.length] : [],
    );

  const people = (count: number, name = "person"): string[] =>
    Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);

  it("reaches every recipient once and completes", async () => {
    const job = await writeSide.createJob(people(50));
    const view = await ended(job);
    expect(view.status).to.equal("completed");
    expect(progressOf(view)).to.include({ total: 50, sent: 50, pending: 0 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(people(50).sort());
  });

  it("to one recipient is three entries: created, started with its claim, sent with its end", async () => {
    const job = await writeSide.createJob(people(1));
    await ended(job);
    const history = await writeSide.log.readHistory(job);
    expect(history.map(({ index, event }) => [index, event.type])).to.deep.equal([
      [0, "JobCreated"],
      [0, "JobStarted"],
      [1, "RecipientsClaimed"],
      [0, "RecipientSent"],
      [1, "JobCompleted"],
    ]);
  });

  it("claims for every connection at a time also where it shares them, but not where doubt is to be left alone", async () => {
    mailServer.hold();
    const resent = await writeSide.createJob(people(40, "resent"));
    await eventually(() => expect(mailServer.held).to.have.lengthOf(4));
    const skipped = await writeSide.createJob(people(40, "skipped"), { onUnknown: "skip" });
    await eventually(async () => expect(await claimsOf(skipped)).not.to.deep.equal([]));
    mailServer.release();
    await ended(resent);
    await ended(skipped);
    expect(new Set(await claimsOf(resent))).to.deep.equal(new Set([4]));
    expect((await claimsOf(skipped))[0]).to.equal(1);
  });

  it("records a refused recipient with the masked answer and still completes", async () => {
    mailServer.answerRecipient("gone@example.com", { code: 550, text: "5.1.1 <gone@example.com>: user gone unknown" });
    const job = await writeSide.createJob(["ada@example.com", "gone@example.com"]);
    const view = await ended(job);
    expect(view.status).to.equal("completed");
    expect(progressOf(view)).to.include({ sent: 1, failed: 1 });
    const [failed] = (await writeSide.log.readRecipients(job))
      .map(({ event }) => event)
      .filter((event) => event.type === "RecipientFailed");
    expect(failed?.data.error).to.include({ code: "rejected", replyCode: 550, statusCode: "5.1.1" });
    expect(failed?.data.error.message).not.to.match(/gone|example/);
  });

  it("fails when more than half of its recipients failed", async () => {
    for (const to of people(2, "nobody")) mailServer.answerRecipient(to, { code: 550, text: "5.1.1 no such user" });
    const view = await ended(await writeSide.createJob([...people(2, "nobody"), "ada@example.com"]));
    expect(view.status).to.equal("failed");
    expect(view.error?.code).to.equal("too-many-failures");
  });

  it("waits for its next attempt, with no recipient failed, while the mail server is away", async () => {
    await mailServer.stop();
    const job = await writeSide.createJob(people(3));
    const view = await eventually(async () => {
      const seen = await writeSide.readView(job);
      expect(seen.status).to.equal("retrying");
      return seen;
    });
    expect(progressOf(view)).to.include({ total: 3, pending: 3, failed: 0 });
    expect(view.error?.code).to.equal("smtp-unavailable");
    expect(view.nextAttemptAt).to.be.a("string");
    await mailServer.start();
  });
});
