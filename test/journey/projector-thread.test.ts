import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { preloading } from "../support/preloading.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const everything = "api,scheduler,worker,projector";

/** Loaded into each thread of the process; what runs beside the main one breaks once the file is there. */
const breakThread = (file: string): string => `
  import { existsSync } from "node:fs";
  import { isMainThread } from "node:worker_threads";
  const breakIfTold = () => {
    if (existsSync(${JSON.stringify(file)})) throw new Error("broken on purpose");
  };
  if (!isMainThread) setInterval(breakIfTold, 50).unref();
`;

describe("a process that projects beside its other roles", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  const started: WaybillProcess[] = [];

  const start = async (env: Record<string, string> = {}): Promise<WaybillProcess> => {
    const service = await spawnWaybill(surroundings, everything, env);
    started.push(service);
    return service;
  };
  const clientOf = (service: WaybillProcess): ApiClient => createApiClient(service.url);

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
  });
  after(async () => {
    for (const service of started) await service.kill();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  it("stops in good order in the middle of a mailing, and goes on with rows and mails where it was", async () => {
    const recipients = Array.from({ length: 300 }, (_, index) => `person${index}@example.com`);
    mailServer.slowDown(40);
    const service = await start();
    const jobId = await clientOf(service).create({ subject: "Stop me", body: "text", recipients });
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(50), 30_000);
    expect(await service.terminate(), "exit code").to.equal(0);
    expect(mailServer.mails.length).to.be.lessThan(recipients.length);

    const job = await clientOf(await start()).ended(jobId, 60_000);
    expect(job.status).to.equal("completed");
    expect(job.progress).to.include({ total: 300, sent: 300 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...recipients].sort());
  });

  it("ends as a whole when what projects breaks: one without its read models would look well", async () => {
    const folder = await temporaryFolder();
    try {
      const order = join(folder, "break");
      const service = await start(preloading(breakThread(order)));
      await writeFile(order, "");
      await eventually(() => expect(service.output()).to.contain("broken on purpose"), 30_000);
      expect(await service.exitCode(), "exit code").to.equal(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
