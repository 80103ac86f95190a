import { rm } from "node:fs/promises";
import { expect } from "chai";
import { Command } from "commander";
import { addKeyCommands } from "../../src/cli/keys.ts";
import { readConfig } from "../../src/settings/config.ts";
import { type Standalone, startStandalone } from "../../src/standalone/standalone.ts";
import { openAccess } from "../support/access.ts";
import { quietProcess } from "../support/cli.ts";
import { findNatsSource } from "../support/server-sources.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A key made in the data folder of a standalone service", () => {
  let dataDir: string;
  let service: Standalone | null = null;
  let told: string[] = [];

  before(async () => {
    await findNatsSource();
    dataDir = await temporaryFolder();
  });
  after(async () => {
    await service?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const settings = (): Record<string, string> => ({ DATA_DIR: dataDir, SMTP_URL: "smtp://127.0.0.1:1" });
  const createKey = async (): Promise<string> => {
    const printed: string[] = [];
    told = [];
    const program = new Command();
    addKeyCommands(program, {
      ...quietProcess,
      readConfig: () => readConfig(settings()),
      print: (line) => printed.push(line),
      tell: (line) => told.push(line),
    });
    await program.parseAsync(["keys", "create", "--tenant", "acme", "--json"], { from: "user" });
    return JSON.parse(printed.join("")).id;
  };

  const start = (): Promise<Standalone> =>
    startStandalone(readConfig({ ...settings(), MYSQL_URL: "mysql://nobody@127.0.0.1:1/none" }), () => {});

  it("is there for the service, be it made while it is stopped or while it runs", async () => {
    await (await start()).stop();
    const before = await createKey();
    expect(told.join()).to.equal(
      `Working on the servers in ${dataDir}, started for this command, as no service runs there.`,
    );
    service = await start();
    const meanwhile = await createKey();
    expect(told.join()).to.equal(`Working on the servers of the service that runs in ${dataDir}.`);
    const access = await openAccess({ config: service.config.nats, prefix: "" });
    const ids = (await access.store.listKeys()).map(({ id }) => id);
    await access.close();
    expect(ids).to.deep.equal([before, meanwhile]);
  });
});
