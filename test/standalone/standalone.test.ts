import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { connect, type NatsConnection } from "nats";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { type CompleteConfig, type Config, readConfig } from "../../src/settings/config.ts";
import { identifyProcess } from "../../src/standalone/process-identity.ts";
import { startStandalone } from "../../src/standalone/standalone.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const script = fileURLToPath(new URL("../support/standalone-process.ts", import.meta.url));

/** A real process that starts the servers under `dataDir`, in a process group of its own. */
function startProcess(dataDir: string): {
  process: ChildProcess;
  exited: Promise<unknown[]>;
  says(line: string): Promise<unknown>;
} {
  const child = spawn(process.execPath, ["--import", "tsx", script], {
    env: { ...process.env, DATA_DIR: dataDir },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  atEndOfRun(async () => void child.kill("SIGKILL"));
  return {
    process: child,
    exited: once(child, "exit"),
    says: (line) => eventually(() => expect(lines, child.exitCode?.toString()).to.include(line)),
  };
}

async function serverPids(dataDir: string): Promise<number[]> {
  const files = (await readdir(dataDir, { recursive: true })).filter((name) =>
    /(nats-server|mysqld|mariadbd)\.pid$/.test(name),
  );
  return Promise.all(files.map(async (file) => Number(await readFile(join(dataDir, file), "utf8"))));
}

async function ask({ mysqlUrl }: CompleteConfig, statement: string): Promise<void> {
  const connection = await mysql.createConnection(mysqlUrl);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}

async function onNats<Answer>(
  { nats: { servers, user, password } }: CompleteConfig,
  act: (connection: NatsConnection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connect({ servers: [...servers], user: user ?? "", pass: password ?? "" });
  try {
    return await act(connection);
  } finally {
    await connection.close();
  }
}

const areGone = (pids: readonly number[]): Promise<void> =>
  eventually(async () => {
    for (const pid of pids) expect(await identifyProcess(pid), `process ${pid}`).to.equal(null);
  });

describe("a start without any settings", () => {
  let dataDir: string;
  const lines: string[] = [];
  const start = () => startStandalone(config(), (line) => lines.push(line));
  const config = (): Config => readConfig({ DATA_DIR: dataDir });

  before(async () => {
    dataDir = await temporaryFolder();
  });
  afterEach(() => {
    lines.length = 0;
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  it("has an event log, a database and a mailbox, and ends them", async () => {
    const { config: filled, mailbox, stop } = await start();
    const pids = await serverPids(dataDir);
    expect(pids).to.have.length(2);
    expect(filled).to.deep.include({ dataDir, smtpUrl: mailbox?.smtpUrl });
    expect(filled.mysqlUrl).to.match(/^mysql:\/\/waybill:[^@]+@127\.0\.0\.1:\d+\/waybill$/);
    expect(await onNats(filled, async ({ info }) => info?.jetstream)).to.equal(true);
    await stop();
    await areGone(pids);
    expect(lines).to.deep.equal([]);
  });

  it("says what it begins, and that a new database takes longer, to a person who waits", async () => {
    const steps: string[] = [];
    const begin = async (folder: string): Promise<void> => {
      const options = { onStep: (line: string) => steps.push(line) };
      await (await startStandalone(readConfig({ DATA_DIR: folder }), () => {}, options)).stop();
    };
    await begin(dataDir);
    expect(steps).to.have.length(1);
    expect(steps[0]).to.match(/^Starting nats-server and (mariadbd|mysqld) …$/);
    const empty = await temporaryFolder();
    await begin(empty);
    expect(steps[1]).to.include(`with a new database in ${empty}`);
    await rm(empty, { recursive: true });
  });

  it("starts no mailbox for a process that sends no mails", async () => {
    const servers = { NATS_URL: "nats://nats.example:4222", MYSQL_URL: "mysql://user@mysql.example:3306/waybill" };
    const {
      mailbox,
      config: filled,
      stop,
    } = await startStandalone(readConfig({ ...servers, ROLES: "scheduler" }), () => {});
    expect(mailbox).to.equal(null);
    expect(filled.smtpUrl).to.match(/\.invalid$/);
    await stop();
  });

  it("is refused while another one uses the same folder, and told which", async () => {
    const { stop } = await start();
    const failure = await failureOf(start());
    expect(failure).to.be.instanceOf(CannotStart);
    expect(failure.message).to.contain(dataDir).and.contain(`process ${process.pid}`);
    await stop();
    await (await start()).stop();
  });

  it("finds its data where an earlier one left it", async () => {
    const first = await start();
    await ask(first.config, "CREATE TABLE kept (word VARCHAR(20))");
    await first.stop();
    const second = await start();
    await ask(second.config, "DROP TABLE kept");
    await second.stop();
  });

  it("ends its servers when it is killed, and a start right after waits for that", async () => {
    const first = startProcess(dataDir);
    await first.says("started");
    const pids = await serverPids(dataDir);
    expect(pids).to.have.length(2);
    first.process.kill("SIGKILL");
    await first.exited;
    const { stop } = await start();
    await areGone(pids);
    await stop();
  });

  it("keeps its servers until it has finished with them when a terminal interrupts everything", async () => {
    const first = startProcess(dataDir);
    await first.says("started");
    const pids = await serverPids(dataDir);
    process.kill(-Number(first.process.pid), "SIGINT");
    await first.says("the database still answers");
    const [code] = await first.exited;
    expect(code).to.equal(0);
    await areGone(pids);
  });

  it("starts nothing where the settings name every server", async () => {
    const unused = join(dataDir, "unused");
    const named = readConfig({
      DATA_DIR: unused,
      NATS_URL: "nats://nats.example:4222",
      MYSQL_URL: "mysql://user:secret@mysql.example:3306/waybill",
      SMTP_URL: "smtp://mail.example:25",
    });
    const { config: filled, mailbox, stop } = await startStandalone(named, (line) => lines.push(line));
    expect(filled).to.deep.equal(named);
    expect(mailbox).to.equal(null);
    expect(existsSync(unused)).to.equal(false);
    await stop();
  });

  it("starts each of its servers again that ends by itself, at the same address and with its data", async () => {
    const { config: filled, stop } = await start();
    await ask(filled, "CREATE TABLE kept (word VARCHAR(20))");
    await onNats(filled, async (connection) => {
      await (await connection.jetstreamManager()).streams.add({ name: "KEPT", subjects: ["kept"] });
    });
    const before = await serverPids(dataDir);
    for (const pid of before) process.kill(pid, "SIGKILL");
    await eventually(() => expect(lines.filter((line) => line.endsWith("runs again."))).to.have.length(2));
    expect(lines.filter((line) => /ended by itself, with code 137/.test(line))).to.have.length(2);
    const again = await serverPids(dataDir);
    expect(again).to.have.length(2);
    expect(again.filter((pid) => before.includes(pid))).to.deep.equal([]);
    await ask(filled, "DROP TABLE kept");
    await onNats(filled, async (connection) => {
      await (await connection.jetstreamManager()).streams.delete("KEPT");
    });
    await stop();
    await areGone(again);
  });
});
