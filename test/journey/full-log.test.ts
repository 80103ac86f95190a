import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const megabyte = 1_048_576;

describe("a log that fills up", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;

  const start = async (maxBytes: number): Promise<void> => {
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    waybill = await startWaybill(surroundings, { JOBS_MAX_BYTES: String(maxBytes) });
    client = createApiClient(waybill.url);
  };
  const people = Array.from({ length: 100 }, (_, index) => `person${index}@example.com`);
  const mailing = { subject: "Your invoice", body: "Hello", recipients: people };
  const forLater = { ...mailing, recipients: ["ada@example.com"], scheduledAt: "2999-01-01T00:00:00.000Z" };

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    await start(megabyte);
  });

  after(async () => {
    mailServer.release();
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** What was stored last may count twice for a second, so a first refusal can come early; each job taken fills the log. */
  const refusesJobs = (): Promise<void> =>
    eventually(async () => {
      const { status, body } = await client.post("/api/jobs", forLater);
      expect(status).to.equal(503);
      expect(body).to.include({ code: "event-log-full" });
    });

  it("refuses new jobs and takes the outcomes of those it has; with a larger limit it takes jobs again", async () => {
    mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    const refused = await client.create({ ...mailing, recipients: ["nobody@example.com"] });
    expect((await client.ended(refused)).status).to.equal("failed");
    mailServer.hold();
    const running = await client.create(mailing);
    await eventually(() => expect(mailServer.held.length).to.be.greaterThan(0));

    const answers: number[] = [];
    while (!answers.includes(503)) {
      const some = await Promise.all(Array.from({ length: 10 }, () => client.post("/api/jobs", forLater)));
      answers.push(...some.map(({ status }) => status));
    }
    expect(answers.filter((status) => status === 201).length).to.be.greaterThan(100);
    await refusesJobs();

    mailServer.release();
    mailServer.answerRecipient("nobody@example.com", null);
    await eventually(async () => {
      const { status } = await client.post(`/api/jobs/${refused}/retry`);
      // A busy machine may not be able to say in time that it is done.
      expect(status).to.be.oneOf([200, 409]);
    });
    const [job, retried] = [await client.ended(running), await client.ended(refused)];
    expect(job.progress).to.include({ total: 100, sent: 100, pending: 0 });
    expect([job.status, retried.status]).to.deep.equal(["completed", "completed"]);
    await refusesJobs();

    await waybill.stop();
    await start(4 * megabyte);
    expect((await client.post("/api/jobs", forLater)).status).to.equal(201);
  });
});
