import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { addMigrateCommand } from "../../src/cli/migrate.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { createDatabase } from "../../src/database/database.ts";
import { createApiClient } from "../support/api-client.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { settingsFor, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const roles = "api,scheduler,worker,projector,webhooks,outbox";
const mailing = { subject: "Untouched", body: "text", recipients: ["ada@example.com"] };

describe("a service that may not change its database (AUTO_MIGRATE=false)", function () {
  this.timeout(120_000);

  let stage: Stage;
  let service: WaybillProcess;

  const start = async (): Promise<void> => {
    service = await spawnWaybill(stage.surroundings, roles, { AUTO_MIGRATE: "false", LOG_LEVEL: "warn" });
  };
  const tables = async (): Promise<string[]> => {
    const db = createDatabase(stage.database.url);
    try {
      const [rows] = (await db.raw("SHOW TABLES")) as [object[]];
      return rows.flatMap((row) => Object.values(row) as string[]).sort();
    } finally {
      await db.destroy();
    }
  };
  const found = async (): Promise<unknown> => {
    const { body } = await createApiClient(service.url).get("/readyz");
    return (body as { dependencies: { mysql: unknown } }).dependencies.mysql;
  };
  /** Each of them has looked at its tables by then. */
  const everyProjectionWaits = (): Promise<void> =>
    eventually(() => {
      const waiting = service.output().match(/projection failed; retrying/g) ?? [];
      expect(waiting).to.have.lengthOf(allProjectors.length);
    }, 30_000);
  const run = (command: string): Promise<unknown> =>
    createCommandLine([addMigrateCommand, addRebuildCommand], settingsFor(stage.surroundings)).run(
      ...command.replace(/^waybill /, "").split(" "),
    );

  before(async () => {
    stage = await setStage();
    await start();
  });
  after(async () => {
    await service.kill();
    await stage.cleanUp();
  });

  it("makes no table, says what is missing and the command that makes it, and goes on once it is there", async () => {
    const client = createApiClient(service.url);
    await everyProjectionWaits();
    const jobId = await client.create(mailing);
    expect((await client.ended(jobId)).progress).to.include({ sent: 1 });
    expect(await tables()).to.deep.equal([]);
    const missing = (await found()) as { missing: string[]; command: string };
    expect(missing).to.include({ status: "down", needed: false, command: "waybill migrate" });
    expect(missing.missing).to.include.members(["0002-outbox", "jobs", "jobs_checkpoint", "email_jobs"]);

    await run(missing.command);
    await eventually(async () => {
      const { status, body } = await client.get("/api/jobs");
      expect(status).to.equal(200);
      expect((body as { data: object[] }).data).to.have.lengthOf(1);
    }, 20_000);
    expect(await found()).to.include({ status: "up" });
  });

  it("leaves tables of an older release alone, and names the command that rebuilds them", async () => {
    await service.terminate();
    const db = createDatabase(stage.database.url);
    await db.raw("UPDATE jobs_checkpoint SET version = version - 1");
    await db.destroy();
    const before = await tables();
    await start();
    await eventually(() => expect(service.output()).to.contain("has tables of an older release: jobs."), 30_000);
    const outdated = (await found()) as { command: string };
    expect(outdated).to.include({ status: "down", command: "waybill rebuild jobs" });
    expect(await tables()).to.deep.equal(before);

    await run(outdated.command);
    const client = createApiClient(service.url);
    const jobId = await client.create(mailing);
    await eventually(async () => {
      const { body } = await client.get("/api/jobs");
      expect((body as { data: { id: string }[] }).data.map(({ id }) => id)).to.include(jobId);
    }, 20_000);
    expect(await found()).to.include({ status: "up" });
  });
});
