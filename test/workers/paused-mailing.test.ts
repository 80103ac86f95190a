import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const people = Array.from({ length: 40 }, (_, index) => `person${index}@example.com`);

describe("a mailing that asked not to be sent in doubt, paused while some recipients were claimed ahead", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
    writeSide.startWorker(mailServer.url);
  });

  afterEach(async () => {
    mailServer.release();
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const tell = (job: JobRef, type: "CancelJob" | "PauseJob" | "ResumeJob") =>
    handleCommand(writeSide.log, job, { type, at: now, reason: null }, cause);
  const recipientsIn = async (job: JobRef, type: "RecipientsClaimed" | "RecipientsReleased") =>
    (await writeSide.log.readRecipients(job)).flatMap(({ event }) =>
      event.type === type ? event.data.recipients : [],
    );

  const claimedAhead = async (): Promise<JobRef> => {
    mailServer.hold();
    const job = await writeSide.createJob(people, { onUnknown: "skip" });
    await eventually(async () => {
      expect(mailServer.held).to.have.lengthOf(4);
      expect(await recipientsIn(job, "RecipientsClaimed")).to.have.lengthOf.above(4);
    });
    return job;
  };

  const everyOneIsMailedOnce = async (job: JobRef): Promise<void> => {
    const view = await eventually(async () => {
      const seen = await writeSide.readView(job);
      expect(seen.status).to.equal("completed");
      return seen;
    });
    expect(progressOf(view)).to.include({ total: 40, sent: 40, unknown: 0 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...people].sort());
  };

  it("takes those claims back, and mails every recipient once after it was resumed", async () => {
    const job = await claimedAhead();
    const claimed = await recipientsIn(job, "RecipientsClaimed");
    await tell(job, "PauseJob");
    mailServer.release();
    const released = await eventually(async () => {
      const found = await recipientsIn(job, "RecipientsReleased");
      expect(found).to.have.lengthOf(claimed.length - 4);
      return found;
    });
    expect(progressOf(await writeSide.readView(job))).to.include({ sent: 4, pending: 36 });
    expect(claimed).to.include.members(released);

    await tell(job, "ResumeJob");
    await everyOneIsMailedOnce(job);
  });

  it("takes them back after a cancellation: the log then says that they were not mailed", async () => {
    const job = await claimedAhead();
    const claimed = await recipientsIn(job, "RecipientsClaimed");
    await tell(job, "CancelJob");
    mailServer.release();
    await eventually(async () =>
      expect(await recipientsIn(job, "RecipientsReleased")).to.have.lengthOf(claimed.length - 4),
    );
    expect(progressOf(await writeSide.readView(job))).to.include({ sent: 4, pending: 36 });
  });

  it("takes them back where it was resumed before the worker was done", async () => {
    const job = await claimedAhead();
    await tell(job, "PauseJob");
    await tell(job, "ResumeJob");
    mailServer.release();
    await everyOneIsMailedOnce(job);
  });

  it("leaves them to a worker that has taken the job meanwhile", async () => {
    const job = await claimedAhead();
    await tell(job, "PauseJob");
    await tell(job, "ResumeJob");
    const start = { type: "StartJob", run: 1, attempt: 1, opening: 1, worker: "another", at: now } as const;
    await handleCommand(writeSide.log, job, start, cause);
    mailServer.release();
    await eventually(async () => expect(progressOf(await writeSide.readView(job)).sent).to.equal(4));
    const other = await writeSide.createJob(["later@example.com"]);
    await eventually(async () => expect((await writeSide.readView(other)).status).to.equal("completed"));
    expect(await recipientsIn(job, "RecipientsReleased")).to.deep.equal([]);
  });
});
