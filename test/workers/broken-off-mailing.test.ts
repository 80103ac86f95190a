import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const people = Array.from({ length: 40 }, (_, index) => `person${index}@example.com`);

describe("a mailing whose turn breaks off, where no recipient in doubt is mailed again", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
  });

  afterEach(async () => {
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const ends = (job: JobRef) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal("completed");
      return progressOf(view);
    });
  const mailed = (): readonly string[] => mailServer.mails.flatMap(({ to }) => to).sort();

  it("gives up no recipient that was claimed ahead and not handed over", async () => {
    let looks = 0;
    const reasonFor = async (): Promise<null> => {
      looks += 1;
      // The worker looks 40 times before it claims all recipients, and then before each mail.
      if (looks === 60) throw new Error("broken once");
      return null;
    };
    writeSide.startWorker(mailServer.url, { reasonFor, firstDelayMs: 5 });
    const job = await writeSide.createJob(people, { onUnknown: "skip" });
    expect(await ends(job)).to.include({ total: 40, sent: 40, unknown: 0 });
    expect(mailed()).to.deep.equal([...people].sort());
    expect(writeSide.reported.map(String)).to.deep.equal(["Error: broken once"]);
  });

  it("gives up no recipient either where a worker is stopped and what follows from an outcome fails", async () => {
    mailServer.answerRecipient("person0@example.com", { code: 550, text: "5.1.1 no such mailbox" });
    const refused = async (): Promise<void> => {
      throw new Error("broken once");
    };
    mailServer.slowDown(50);
    const first = writeSide.startWorker(mailServer.url, { refused, firstDelayMs: 5 });
    const job = await writeSide.createJob(people, { onUnknown: "skip" });
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(5));
    await first.stop(5000);
    expect(mailServer.mails.length).to.be.lessThan(people.length - 1);
    writeSide.startWorker(mailServer.url);
    expect(await ends(job)).to.include({ total: 40, sent: 39, failed: 1, unknown: 0 });
    expect(mailed()).to.deep.equal(people.slice(1).sort());
  });
});
