import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** Takes some 25 ms where no other process wants the processor, and is in the middle of it when it is taken away. */
const dear = '{% assign n = "" %}{% for i in (1..5000) %}{% assign n = i | append: "x" %}{% endfor %}{{ name }}';
/** Does not end within any deadline. */
const endless = "{% for i in (1..99999) %}{% for j in (1..99999) %}{% endfor %}{% endfor %}";

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, variables: { name: `n${index}` } }));

describe("a machine that is busy with something else", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mail: TestMailServer;
  let service: WaybillProcess;
  let client: ApiClient;
  let isOver = false;
  let busy: Promise<void> | null = null;

  /** Of every 110 ms the process gets 40, or more where this one is late. */
  async function keepBusy(): Promise<void> {
    while (!isOver && !service.hasEnded()) {
      process.kill(service.pid, "SIGSTOP");
      await pause(70);
      process.kill(service.pid, "SIGCONT");
      await pause(40);
    }
  }

  before(async () => {
    [nats, database, mail] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    service = await spawnWaybill({ nats, mysqlUrl: database.url, smtpUrl: mail.url }, "api,scheduler,worker,projector");
    client = createApiClient(service.url);
    busy = keepBusy();
  });
  after(async () => {
    isOver = true;
    await busy;
    await service.terminate();
    await Promise.all([mail.stop(), database.drop(), nats.cleanUp()]);
  });

  /** "Try again" is no verdict: a machine that is busy enough also says so where it cannot hear from NATS in time. */
  const verdictOn = (mailing: object): Promise<Answer> =>
    eventually(async () => {
      const answer = await client.post("/api/jobs", mailing);
      expect(answer.status).not.to.equal(503);
      return answer;
    }, 30_000);

  it("refuses no mailing that an idle one takes, and gives up no recipient whose mail can be rendered", async () => {
    const jobs: string[] = [];
    for (let mailings = 0; mailings < 5; mailings += 1) {
      const { status, body } = await verdictOn({ subject: "{{ name }}", body: dear, recipients: people(4) });
      expect(status, JSON.stringify(body)).to.equal(201);
      jobs.push((body as { jobId: string }).jobId);
    }
    for (const jobId of jobs) {
      const { status, progress } = await client.ended(jobId, 90_000);
      expect([status, progress.sent, progress.failed]).to.deep.equal(["completed", 4, 0]);
    }
  });

  it("refuses the same templates as an idle one", async () => {
    const { status, body } = await verdictOn({ subject: "Hi", body: endless, recipients: people(2) });
    expect(status).to.equal(400);
    expect(body).to.have.nested.property(
      "errors[0].message",
      "recipients[0] cannot fill in body at line 1, column 26: it does too much",
    );
  });
});
