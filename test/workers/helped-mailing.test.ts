import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

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
});
