import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { unhinderedMs } from "../support/unhindered.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const connections = 5;

describe("a worker that is killed in the middle of a mailing", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  let service: WaybillProcess;
  let worker: WaybillProcess;
  let client: ApiClient;

  const startWorker = () => spawnWaybill(surroundings, "worker", { SMTP_MAX_CONNECTIONS: String(connections) });
  const recipients = Array.from({ length: 400 }, (_, index) => `person${index}@example.com`);

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    [service, worker] = await Promise.all([spawnWaybill(surroundings, "api,scheduler,projector"), startWorker()]);
    client = createApiClient(service.url);
  });

  after(async () => {
    await Promise.all([service.terminate(), worker.terminate()]);
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  it("is taken over where the log says, and repeats at most the mails in flight and those not written yet", async () => {
    mailServer.slowDown(10);
    const jobId = await client.create({ subject: "Kill me", body: "text", recipients });
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(100), 30_000);
    await worker.kill();
    const atKill = mailServer.mails.length;
    expect(atKill).to.be.lessThan(recipients.length);
    worker = await startWorker();
    const job = await client.ended(jobId, 60_000);

    expect(job.status).to.equal("completed");
    expect(job.attempt).to.equal(1);
    expect(job.progress).to.deep.equal({
      total: 400,
      sent: 400,
      failed: 0,
      pending: 0,
      deferred: 0,
      unknown: 0,
      suppressed: 0,
      bounced: 0,
      complained: 0,
    });
    const mailed = mailServer.mails.flatMap(({ to }) => to);
    expect([...new Set(mailed)].sort()).to.deep.equal([...recipients].sort());
    expect(mailed.length - recipients.length).to.be.at.most(2 * connections);
    const ids = mailServer.mails.map(({ messageId }) => messageId);
    expect(new Set(ids).size, "a second copy has the Message-ID of the first").to.equal(recipients.length);
  });

  it("stops in good order on SIGTERM: another worker goes on at once, and nobody is mailed twice", async () => {
    mailServer.forgetMails();
    const jobId = await client.create({ subject: "Stop me", body: "text", recipients });
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(100), 30_000);
    const successor = await startWorker();
    const ms = await unhinderedMs(async () => {
      expect(await worker.terminate()).to.equal(0);
      worker = successor;
      expect((await client.ended(jobId, 60_000)).progress).to.include({ total: 400, sent: 400 });
    });
    expect(ms, "ms from the signal to the end of the job").to.be.lessThan(12_000);
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...recipients].sort());
  });
});
