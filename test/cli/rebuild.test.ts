import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { createDatabase } from "../../src/database/database.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { jobCreated, jobStarted } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { settingsFor } from "../support/waybill.ts";

describe("waybill rebuild", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let commandLine: CommandLine;

  before(async () => {
    [nats, database] = await Promise.all([startNats(), freshDatabase()]);
    const { log, close } = await openJetStreamLog(nats.config, nats.prefix);
    await happen(log, newJob(), [jobCreated(), jobStarted()]);
    await close();
    const env = settingsFor({ nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" });
    commandLine = createCommandLine([addRebuildCommand], env);
  });
  after(async () => {
    await database?.drop();
    await nats?.cleanUp();
  });

  const changeRows = async (column: string, value: unknown): Promise<void> => {
    const db = createDatabase(database.url);
    await db("jobs").update({ [column]: value });
    await db.destroy();
  };

  it("rebuilds, says that the old tables are kept, puts them back, and drops them", async () => {
    expect((await commandLine.run("rebuild", "jobs")).printed).to.deep.equal([
      'jobs: rebuilt. The old tables are kept: "waybill rebuild jobs --confirm" drops them, --rollback restores them.',
    ]);
    const again = await commandLine.run("rebuild", "jobs");
    expect(again.told.join()).to.include("jobs: the tables that an earlier rebuild kept will be replaced.");
    const { printed } = await commandLine.run("rebuild", "jobs", "--status");
    expect(printed[1]).to.match(/^jobs +live +version \d+, event 2 +version \d+, event 2 +-$/);
    expect((await commandLine.run("rebuild", "--rollback")).printed).to.deep.equal([
      "jobs: the old tables are back, the others are kept.",
    ]);
    expect((await commandLine.run("rebuild", "--confirm")).printed).to.deep.equal([
      "jobs: the kept tables were dropped.",
    ]);
    expect(await failureOf(commandLine.run("rebuild", "jobs", "--rollback"))).to.be.instanceOf(CommandFailed);
  });

  it("checks, names what differs, and shows the values only on request", async () => {
    await commandLine.run("rebuild", "jobs");
    expect((await commandLine.run("rebuild", "jobs", "--check")).printed).to.deep.equal([
      "jobs: matches the log, as of event 2.",
    ]);
    await changeRows("name", "ada@example.com");
    const failure = await failureOf(commandLine.run("rebuild", "jobs", "--check"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal('"waybill rebuild jobs" rebuilds the rows.');
    const { printed } = commandLine.last();
    expect(printed[0]).to.equal("jobs: differs from the log, as of event 2.");
    expect(printed[1]).to.match(/^ {2}jobs id=\S+: differs in name$/);
    await failureOf(commandLine.run("rebuild", "jobs", "--check", "--values"));
    expect(commandLine.last().printed[1]).to.match(/: name is ada@example\.com, the log gives null$/);
  });

  it("is wrong usage with an unknown projection, or with two things at once", async () => {
    for (const args of [["nothing"], ["--check", "--confirm"], ["--values"]]) {
      expect(await failureOf(commandLine.run("rebuild", ...args))).to.be.instanceOf(WrongUsage);
    }
  });
});
