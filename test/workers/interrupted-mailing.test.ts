import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const people = Array.from({ length: 60 }, (_, index) => `person${index}@example.com`);

describe("a mailing that is cancelled or paused while it is being sent", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
  });

  afterEach(async () => {
    mailServer.release();
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const tell = (job: JobRef, type: "CancelJob" | "PauseJob" | "ResumeJob") =>
    handleCommand(writeSide.log, job, { type, at: now, reason: null }, cause);
  const status = async (job: JobRef) => (await writeSide.readView(job)).status;

  it("hands over no mail after the answer to a cancel but those in flight, and records those", async () => {
    writeSide.startWorker(mailServer.url);
    mailServer.hold();
    const job = await writeSide.createJob(people);
    await eventually(() => expect(mailServer.held).to.have.lengthOf(4));
    await tell(job, "CancelJob");
    mailServer.release();
    await eventually(async () => expect(progressOf(await writeSide.readView(job)).sent).to.equal(4));
    const view = await writeSide.readView(job);
    expect(view.status).to.equal("cancelled");
    expect(progressOf(view)).to.include({ total: 60, sent: 4, pending: 56 });
    expect(mailServer.mails).to.have.lengthOf(4);
  });

  it("sends nothing more between two mails that are a delay apart", async () => {
    writeSide.startWorker(mailServer.url, { batchDelayMs: 50 });
    const job = await writeSide.createJob(people);
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(2));
    await tell(job, "CancelJob");
    const atCancel = mailServer.mails.length;
    const other = await writeSide.createJob(["later@example.com"]);
    await eventually(async () => expect(await status(other)).to.equal("completed"));
    expect(mailServer.mails.length - 1 - atCancel).to.be.at.most(1);
  });

  it("goes on after a pause with the recipients not mailed", async () => {
    writeSide.startWorker(mailServer.url);
    mailServer.slowDown(50);
    const job = await writeSide.createJob(people);
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(10));
    await tell(job, "PauseJob");
    expect(await status(job)).to.equal("paused");
    await tell(job, "ResumeJob");
    await eventually(async () => expect(await status(job)).to.equal("completed"));
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...people].sort());
  });

  it("is done by one of two workers that both were handed it", async () => {
    writeSide.startWorker(mailServer.url);
    writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people);
    await eventually(async () => expect(await status(job)).to.equal("completed"));
    await writeSide.putTurn(job);
    const other = await writeSide.createJob(["later@example.com"]);
    await eventually(async () => expect(await status(other)).to.equal("completed"));
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(["later@example.com", ...people].sort());
  });
});
