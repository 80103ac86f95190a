import { createHash } from "node:crypto";
import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { insertLogLines } from "../support/report-rows.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const lines = 150_000;

type Event = { readonly type: string; readonly data: { readonly rows: number; readonly sha256: string | null } };

describe("a worker that is killed in the middle of a report", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let db: Knex;
  let surroundings: Surroundings;
  let service: WaybillProcess;
  let workers: WaybillProcess[];
  let client: ApiClient;

  const startWorker = () => spawnWaybill(surroundings, "worker");

  before(async () => {
    [nats, database] = await Promise.all([startNats(), freshDatabase()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" };
    db = createDatabase(database.url);
    service = await spawnWaybill(surroundings, "api,scheduler,projector");
    workers = [await startWorker()];
    client = createApiClient(service.url);
    await insertLogLines(db, "default", lines);
  });
  after(async () => {
    await Promise.all([service, ...workers].map((process) => process.terminate()));
    await db.destroy();
    await database.drop();
    await nats.cleanUp();
  });

  const told = async (jobId: string): Promise<readonly Event[]> => {
    const { body } = await client.get(`/api/jobs/${jobId}/events`);
    return (body as Event[]).filter(({ type }) => type === "ResultStored");
  };

  /** The file, line by line. */
  async function download(jobId: string): Promise<readonly number[]> {
    const answered = await fetch(`${service.url}/api/jobs/${jobId}/result`);
    expect(answered.status).to.equal(200);
    const file = Buffer.from(await answered.arrayBuffer());
    const sha256 = createHash("sha256").update(file).digest("hex");
    expect((await told(jobId)).find(({ data }) => data.sha256 !== null)?.data.sha256).to.equal(sha256);
    return file
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => Number(JSON.parse(line).id));
  }

  const everyLine = Array.from({ length: lines }, (_, index) => index - lines);

  it("leaves a file that another one goes on with: each row is in it once", async () => {
    const jobId = await client.create({ type: "report.export", payload: { of: "logs", format: "ndjson" } });
    await eventually(async () => expect(await told(jobId)).not.to.deep.equal([]), 30_000);
    await workers[0]?.kill();
    const rows = (await told(jobId)).at(-1)?.data.rows ?? 0;
    expect(rows).to.be.within(1, lines - 1);
    workers = [await startWorker()];
    const job = await client.ended(jobId, 90_000);
    expect(job).to.include({ status: "completed", attempt: 1 });
    expect(job.progress).to.include({ total: lines, sent: lines });
    expect(await download(jobId)).to.deep.equal(everyLine);
  });

  it("that is only told to stop hands it over at once", async () => {
    const jobId = await client.create({ type: "report.export", payload: { of: "logs", format: "ndjson" } });
    await eventually(async () => expect(await told(jobId)).not.to.deep.equal([]), 30_000);
    const [first] = workers;
    workers = [await startWorker()];
    expect(await first?.terminate()).to.equal(0);
    expect(await client.ended(jobId, 60_000)).to.include({ status: "completed" });
    expect(await download(jobId)).to.deep.equal(everyLine);
  });
});
