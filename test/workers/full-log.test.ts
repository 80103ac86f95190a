import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const people = Array.from({ length: 60 }, (_, index) => `person${index}@example.com`);

describe("a worker whose log is full to the last byte", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  before(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
    writeSide.startWorker(mailServer.url);
  });

  after(async () => {
    mailServer.release();
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const limitTo = async (maxBytes: (taken: number) => number): Promise<void> => {
    const manager = await writeSide.connection.nats.jetstreamManager();
    const { config, state } = await manager.streams.info(`${writeSide.nats.prefix}_JOBS`);
    await manager.streams.update(config.name, { ...config, max_bytes: maxBytes(state.bytes) });
  };

  it("claims nobody, keeps the outcomes it has, and goes on when there is room: nobody is mailed twice", async () => {
    mailServer.hold();
    const job = await writeSide.createJob(people);
    const claims = async () =>
      (await writeSide.log.readRecipients(job)).flatMap(({ event }) =>
        event.type === "RecipientsClaimed" ? event.data.recipients : [],
      );
    const claimed = await eventually(async () => {
      expect(mailServer.held).to.have.lengthOf(4);
      const found = await claims();
      expect(found).to.have.lengthOf.above(4);
      return found;
    });
    await limitTo((taken) => taken);
    mailServer.release();
    await eventually(() => expect(mailServer.mails).to.have.lengthOf(claimed.length));
    const full = await writeSide.readView(job);
    expect(full.status).to.equal("processing");
    expect(progressOf(full)).to.include({ sent: 0, failed: 0, pending: 60 });
    expect(await claims()).to.deep.equal(claimed);

    await limitTo((taken) => taken + 10_000_000);
    const view = await eventually(async () => {
      const seen = await writeSide.readView(job);
      expect(seen.status).to.equal("completed");
      return seen;
    });
    expect(progressOf(view)).to.include({ total: 60, sent: 60, unknown: 0 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...people].sort());
  });
});
