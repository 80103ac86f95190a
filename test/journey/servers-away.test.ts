import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type OwnNats, startOwnMysql, startOwnNats, type TestMysql } from "../support/services.ts";
import { unhinderedMs } from "../support/unhindered.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

describe("a service whose servers go away", function () {
  this.timeout(120_000);

  let nats: OwnNats;
  let mysql: TestMysql;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;

  const mailing = (name: string) => ({
    subject: name,
    body: "text",
    recipients: Array.from({ length: 20 }, (_, index) => `${name}${index}@example.com`),
  });

  before(async () => {
    [nats, mysql, mailServer] = await Promise.all([startOwnNats(), startOwnMysql(), startMailServer()]);
    const { url } = await mysql.freshDatabase();
    waybill = await startWaybill({ nats, mysqlUrl: url, smtpUrl: mailServer.url });
    client = createApiClient(waybill.url);
    await client.ended(await client.create(mailing("first")));
  });

  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  beforeEach(() => mailServer.forgetMails());

  it("takes jobs and mails them while the database is away, and shows them once it is back", async () => {
    await mysql.stop();
    const jobId = await client.create(mailing("unseen"));
    await eventually(() => expect(mailServer.mails).to.have.lengthOf(20));
    const fromLog = await client.get(`/api/jobs/${jobId}`);
    expect(fromLog.status).to.equal(200);
    const cannotList = await client.get("/api/jobs");
    expect(cannotList.status).to.equal(503);
    expect(cannotList.headers.get("content-type")).to.match(/^application\/problem\+json/);

    await mysql.start();
    await eventually(async () => {
      const { status, body } = await client.get("/api/jobs?pageSize=1");
      expect(status).to.equal(200);
      expect((body as { data: object[] }).data[0]).to.include({ id: jobId, status: "completed" });
      const logs = await client.get(`/api/jobs/${jobId}/logs`);
      expect(logs.body).to.have.lengthOf(20);
    }, 30_000);
  });

  it("refuses a job within two seconds while the log is away, and takes it afterwards", async () => {
    await nats.stop();
    const ms = await unhinderedMs(async () => {
      const refused = await client.post("/api/jobs", mailing("refused"));
      expect(refused.status).to.equal(503);
      expect(refused.headers.get("retry-after")).to.match(/^\d+$/);
      expect(refused.body).to.include({ code: "event-log-unavailable" });
    });
    expect(ms).to.be.lessThan(2000);

    await nats.start();
    const jobId = await eventually(() => client.create(mailing("taken")), 20_000);
    expect((await client.ended(jobId)).progress).to.include({ total: 20, sent: 20 });
    expect(mailServer.mails.filter(({ to }) => to[0]?.startsWith("refused"))).to.deep.equal([]);
  });

  it("loses nothing of a mailing that is under way when the log is killed", async () => {
    mailServer.slowDown(20);
    const recipients = Array.from({ length: 300 }, (_, index) => `midway${index}@example.com`);
    const jobId = await client.create({ subject: "midway", body: "text", recipients });
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(50));
    await nats.kill();
    await nats.start();
    const job = await client.ended(jobId, 40_000);
    expect(job.progress).to.deep.equal({
      total: 300,
      sent: 300,
      failed: 0,
      pending: 0,
      deferred: 0,
      unknown: 0,
      suppressed: 0,
      bounced: 0,
      complained: 0,
    });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...recipients].sort());
    mailServer.slowDown(0);
  });

  it("retries by itself after an outage of the mail server, and mails every recipient once", async () => {
    await mailServer.stop();
    const jobId = await client.create({ ...mailing("later"), retryDelay: 1000 });
    const waiting = await eventually(async () => {
      const { body } = await client.get(`/api/jobs/${jobId}`);
      expect(body).to.include({ status: "retrying" });
      return body;
    });
    expect(waiting).to.have.nested.property("error.code", "smtp-unavailable");
    expect(waiting).to.have.nested.property("progress.failed", 0);
    await mailServer.start();
    const job = await client.ended(jobId);
    expect(job).to.include({ status: "completed", error: null });
    expect(job.attempt).to.be.at.least(2);
    expect(mailServer.mails).to.have.lengthOf(20);
  });
});
