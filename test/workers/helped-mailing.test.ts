import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import { recipientsInDoubt } from "../../src/domain/recipients/ledger.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { everybody } from "../support/scripted-smtp.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `person${index}@example.com`);

describe("a large mailing, and workers that have nothing to do", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    mailServer.slowDown(50);
    writeSide.startScheduler();
  });

  afterEach(async () => {
    mailServer.release();
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const ended = (job: JobRef) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.completedAt).not.to.equal(null);
      return view;
    });
  /** How many recipients each worker has claimed. */
  const claimsOf = async (job: JobRef): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { event } of await writeSide.log.readRecipients(job)) {
      if (event.type !== "RecipientsClaimed") continue;
      counts[event.data.worker] = (counts[event.data.worker] ?? 0) + event.data.recipients.length;
    }
    return counts;
  };

  it("share it: each recipient is mailed once, and the worker that holds it decides its end", async () => {
    for (let worker = 0; worker < 3; worker += 1) writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(400));
    const view = await ended(job);
    expect(view.status).to.equal("completed");
    expect(progressOf(view)).to.include({ total: 400, sent: 400, pending: 0 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(people(400).sort());
    expect(Object.keys(await claimsOf(job))).to.have.lengthOf(3);
    expect((await writeSide.log.readDecisions(job)).map(({ event }) => event.type)).to.deep.equal([
      "JobCreated",
      "JobStarted",
      "JobCompleted",
    ]);
    expect(writeSide.reported).to.deep.equal([]);
  });

  const tell = (job: JobRef, type: "CancelJob" | "PauseJob" | "ResumeJob") =>
    handleCommand(writeSide.log, job, { type, at: now, reason: null }, cause);
  const untilHelped = (job: JobRef) =>
    eventually(async () => expect(Object.keys(await claimsOf(job)).length).to.be.greaterThan(1));
  const mailedTo = (): string[] => mailServer.mails.flatMap(({ to }) => to).sort();

  it("hand over no mail after the answer to a cancel but those in flight, helpers included", async () => {
    for (let worker = 0; worker < 3; worker += 1) writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(400));
    await untilHelped(job);
    mailServer.hold();
    await eventually(() => expect(mailServer.held.length).to.be.greaterThan(4));
    await tell(job, "CancelJob");
    mailServer.release();
    const mailed = mailServer.mails.length;
    await eventually(async () => {
      const { sent, pending } = progressOf(await writeSide.readView(job));
      expect(sent).to.equal(mailServer.mails.length);
      expect(sent + pending).to.equal(400);
    });
    expect(mailServer.mails.length - mailed).to.be.at.most(12);
    expect(new Set(mailedTo()).size).to.equal(mailServer.mails.length);
  });

  it("go on after a pause with the recipients not mailed, and mail none twice", async () => {
    for (let worker = 0; worker < 3; worker += 1) writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(400), { onUnknown: "skip" });
    await untilHelped(job);
    await tell(job, "PauseJob");
    await eventually(async () => expect(recipientsInDoubt((await writeSide.readView(job)).ledger)).to.deep.equal([]));
    await tell(job, "ResumeJob");
    expect(progressOf(await ended(job))).to.include({ sent: 400, unknown: 0 });
    expect(mailedTo()).to.deep.equal(people(400).sort());
  });

  it("give back what they have not mailed when they are to stop, and no mail is in doubt", async () => {
    writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(400), { onUnknown: "skip" });
    await eventually(async () => expect(await claimsOf(job)).to.have.property("worker-1"));
    const helper = writeSide.startWorker(mailServer.url);
    await untilHelped(job);
    await helper.stop(5000);
    const claimed = (await claimsOf(job))["worker-2"];
    expect(progressOf(await ended(job))).to.include({ sent: 400, unknown: 0 });
    expect(mailedTo()).to.deep.equal(people(400).sort());
    expect((await claimsOf(job))["worker-2"]).to.equal(claimed);
    const decisions = await writeSide.log.readDecisions(job);
    expect(decisions.map(({ event }) => event.type)).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
  });

  it("go on under another lease when the worker that holds it is to stop", async () => {
    const holder = writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(400), { onUnknown: "skip" });
    await eventually(async () => expect(await claimsOf(job)).to.have.property("worker-1"));
    writeSide.startWorker(mailServer.url);
    await untilHelped(job);
    await holder.stop(5000);
    expect(progressOf(await ended(job))).to.include({ sent: 400, unknown: 0 });
    expect(mailedTo()).to.deep.equal(people(400).sort());
  });

  it("fail where helpers deferred recipients for the last time, as where the holder did", async () => {
    for (let worker = 0; worker < 3; worker += 1) writeSide.startWorker(mailServer.url);
    mailServer.answerMessage(everybody, { code: 451, text: "4.7.1 Greylisted, try again later" });
    const job = await writeSide.createJob(people(300), { maxAttempts: 1 });
    await untilHelped(job);
    const view = await ended(job);
    expect(progressOf(view)).to.include({ total: 300, failed: 300 });
    expect(view.error?.code).to.equal("too-many-failures");
  });

  it("leave a mailing alone whose mails go out one after the other", async () => {
    for (let worker = 0; worker < 2; worker += 1) writeSide.startWorker(mailServer.url, { batchDelayMs: 1 });
    mailServer.slowDown(10);
    const job = await writeSide.createJob(people(60));
    await ended(job);
    expect(Object.keys(await claimsOf(job))).to.have.lengthOf(1);
  });

  it("serve a mailing of their own at once while they help", async () => {
    for (let worker = 0; worker < 2; worker += 1) writeSide.startWorker(mailServer.url);
    mailServer.slowDown(100);
    const large = await writeSide.createJob(people(300));
    await untilHelped(large);
    const startedAt = performance.now();
    const small = await writeSide.createJob(["small@example.com"], {}, {}, "another-tenant");
    await ended(small);
    expect(performance.now() - startedAt).to.be.lessThan(2000);
    expect((await writeSide.readView(large)).status).to.equal("processing");
  });
});
