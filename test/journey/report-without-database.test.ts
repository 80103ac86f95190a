import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { type ApiClient, createApiClient, type JobAnswer } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { insertLogLines } from "../support/report-rows.ts";
import { startNats, startOwnMysql, type TestMysql, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const lines = 2000;

describe("a report while MySQL is away", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let mysql: TestMysql;
  let db: Knex;
  let waybill: Waybill;
  let client: ApiClient;

  before(async () => {
    [nats, mysql] = await Promise.all([startNats(), startOwnMysql()]);
    const { url } = await mysql.freshDatabase();
    db = createDatabase(url);
    waybill = await startWaybill({ nats, mysqlUrl: url, smtpUrl: "smtp://127.0.0.1:1" });
    client = createApiClient(waybill.url);
    await eventually(() => insertLogLines(db, "default", lines), 20_000);
    await mysql.stop();
  });
  after(async () => {
    await waybill.stop();
    await db.destroy();
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  const job = async (jobId: string): Promise<JobAnswer> => (await client.get(`/api/jobs/${jobId}`)).body as JobAnswer;
  const payload = { of: "logs", format: "csv" };

  it("fails, without a file, when its attempts are used up", async () => {
    const jobId = await client.create({ type: "report.export", payload, maxAttempts: 1 });
    const ended = await client.ended(jobId, 60_000);
    expect(ended).to.include({ status: "failed", attempt: 1 });
    expect(ended.error?.code).to.equal("read-model-unavailable");
    expect((await client.get(`/api/jobs/${jobId}/result`)).status).to.equal(409);
  });

  it("of events is made all the same: the log is all it needs", async () => {
    const jobId = await client.create({ type: "report.export", payload: { of: "events", format: "csv" } });
    expect(await client.ended(jobId, 60_000)).to.include({ status: "completed" });
    expect((await fetch(`${waybill.url}/api/jobs/${jobId}/result`)).status).to.equal(200);
  });

  it("waits for its next attempt, which does not count as failed, and is made when MySQL is back", async () => {
    const jobId = await client.create({ type: "report.export", payload, maxAttempts: 20, retryDelay: 500 });
    const waiting = await eventually(async () => {
      const found = await job(jobId);
      expect(found.status).to.equal("retrying");
      return found;
    }, 60_000);
    expect(waiting.error?.code).to.equal("read-model-unavailable");
    expect(waiting.progress).to.include({ total: 0, sent: 0, failed: 0 });
    await mysql.start();
    expect(await client.ended(jobId, 60_000)).to.include({ status: "completed" });
    const file = await (await fetch(`${waybill.url}/api/jobs/${jobId}/result`)).text();
    expect(file.trimEnd().split("\r\n")).to.have.lengthOf(lines + 1);
  });
});
