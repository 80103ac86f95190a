import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../../src/database/database.ts";
import { roles } from "../../../src/settings/config.ts";
import { type ApiClient, createApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { insertJobs, insertLogLines } from "../../support/report-rows.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../../support/services.ts";
import { spawnWaybill, type WaybillProcess } from "../../support/waybill.ts";

/** Held in memory as rows, or as text, so many would take more than a hundred megabytes. By hand, up to a million. */
const rows = Number(process.env["REPORT_ROWS"] ?? 200_000);
const bound = 120 * 1024 * 1024;

const run = promisify(execFile);

/** The memory that a process holds, in bytes, as any Unix tells. */
const residentBytesOf = async (pid: number): Promise<number> =>
  Number((await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout) * 1024;

const lookEveryMs = 100;

describe(`a report of ${rows} rows`, function () {
  this.timeout(600_000);

  let nats: TestNats;
  let database: TestDatabase;
  let db: Knex;
  /** In a process of its own: in that of the tests everything else would be counted, too. */
  let waybill: WaybillProcess;
  let client: ApiClient;

  before(async () => {
    [nats, database] = await Promise.all([startNats(), freshDatabase()]);
    db = createDatabase(database.url, { silenceMs: 300_000 });
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" };
    waybill = await spawnWaybill(surroundings, roles.join(","));
    client = createApiClient(waybill.url);
    await eventually(() => insertLogLines(db, "small", 1000), 20_000);
    // What a first report leaves in the process, code and connections, is not what is asked here.
    await make({ of: "logs", format: "csv" });
    await insertLogLines(db, "default", rows);
    await insertJobs(db, "default", rows);
  });
  after(async () => {
    await waybill?.kill();
    await db?.destroy();
    await database?.drop();
    await nats?.cleanUp();
  });

  /** Takes the file as it comes, and counts its lines. */
  async function make(payload: object): Promise<{ readonly lines: number; readonly bytes: number }> {
    const jobId = await client.create({ type: "report.export", payload });
    expect(await client.ended(jobId, 500_000)).to.include({ status: "completed" });
    const answered = await fetch(`${waybill.url}/api/jobs/${jobId}/result`);
    let [lines, bytes] = [0, 0];
    for await (const chunk of answered.body ?? []) {
      for (const byte of chunk) lines += byte === 0x0a ? 1 : 0;
      bytes += chunk.length;
    }
    return { lines, bytes };
  }

  for (const of of ["logs", "jobs"]) {
    it(`of ${of} is made and taken away in memory that does not grow with it`, async () => {
      const began = performance.now();
      const before = await residentBytesOf(waybill.pid);
      let highest = before;
      const made = new AbortController();
      const watching = (async () => {
        for (; !made.signal.aborted; await pause(lookEveryMs)) {
          highest = Math.max(highest, await residentBytesOf(waybill.pid));
        }
      })();
      const { lines, bytes } = await make({ of, format: "ndjson" }).finally(() => made.abort());
      await watching;
      const grown = highest - before;
      if (process.env["REPORT_ROWS"] !== undefined) {
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        process.stdout.write(
          `${of}: ${lines} rows, ${bytes} bytes, ${seconds} s, grown by ${(grown / 1048576).toFixed(0)} MB\n`,
        );
      }
      // The lines belong to jobs, one for each thousand.
      expect(lines).to.be.within(rows, rows + rows / 1000 + 10);
      expect(grown).to.be.lessThan(Math.min(bound, bytes * 2));
    });
  }
});
