import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { expect } from "chai";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { StartStopped } from "../../src/standalone/child-server.ts";
import type { DatabaseBinary } from "../../src/standalone/find-binary.ts";
import { type OwnDatabaseServer, startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { identifyProcess } from "../../src/standalone/process-identity.ts";
import { failureOf } from "../support/failure-of.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function ask(url: string, statement: string): Promise<RowDataPacket[]> {
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(statement);
    return rows;
  } finally {
    await connection.end();
  }
}

describe("a database server of one's own", () => {
  let folder: string;
  let dataDir: string;
  let binary: DatabaseBinary;
  let server: OwnDatabaseServer;

  before(async () => {
    binary = (await locateOwnBinaries()).database;
    folder = await temporaryFolder();
    // Deeper than the path of a socket may be long, and with an initialisation that was cut off half-way.
    dataDir = `${folder}/${"a-deep-folder/".repeat(8)}database`;
    await mkdir(`${dataDir}/unfinished-1/mysql`, { recursive: true });
    await writeFile(`${dataDir}/unfinished-1/ibdata1`, "half of a system tablespace");
    server = await startDatabaseServer({ dataDir, binary });
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("begins an initialisation anew that was cut off", async () => {
    expect(await ask(server.url, "SELECT DATABASE() AS name")).to.deep.equal([{ name: "waybill" }]);
    expect(await readdir(dataDir))
      .to.include("data")
      .and.not.include("unfinished-1");
  });

  it("finds its data and its password again in a second start, orderly or after a crash", async () => {
    const { password } = new URL(server.url);
    await ask(server.url, "CREATE TABLE kept (word VARCHAR(20))");
    for (const end of ["stop", "kill"] as const) {
      await ask(server.url, `INSERT INTO kept VALUES ('${end}')`);
      await server[end]();
      server = await startDatabaseServer({ dataDir, binary });
    }
    expect(new URL(server.url).password).to.equal(password);
    expect(await ask(server.url, "SELECT word FROM kept")).to.deep.equal([{ word: "stop" }, { word: "kill" }]);
  });

  it("speaks utf8mb4 and starts a database with it", async () => {
    const statement = "SELECT @@character_set_server AS server, @@character_set_database AS here";
    expect(await ask(server.url, statement)).to.deep.equal([{ server: "utf8mb4", here: "utf8mb4" }]);
  });

  it("keeps all of its files in its folder, and touches none of another server's in the shared temporary folder", async () => {
    const shared = `${folder}/shared`;
    // Temporary tables of MariaDB and MySQL as they lie there while a server works; each at its start removes such of its own.
    const foreign = [
      "#sql-temptable-1f4-3-0.frm",
      "#sql-temptable-1f4-3-0.MAI",
      "#sql_1f4_0.MAD",
      "#sql-ib1057-2401.ibd",
    ];
    await mkdir(shared);
    for (const name of foreign) await writeFile(`${shared}/${name}`, "another server's");
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = shared;
    try {
      const other = await startDatabaseServer({ dataDir: `${folder}/${"as-deep-again/".repeat(8)}database`, binary });
      const [paths] = await ask(other.url, "SELECT @@tmpdir AS tmpdir, @@socket AS socket, @@pid_file AS pid");
      const made = await readdir(shared);
      await other.stop();
      expect(made.sort()).to.deep.equal([...foreign].sort());
      expect(paths?.["tmpdir"]).to.contain("/as-deep-again/database/");
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  });

  it("accepts its own user with the password, and no other", async () => {
    for (const login of ["root", "root:", "waybill", "waybill:wrong", "nobody"]) {
      const url = server.url.replace(/\/\/.*@/, `//${login}@`);
      expect((await failureOf(ask(url, "SELECT 1"))).message, login).to.match(/access denied/i);
    }
  });

  it("shows its password neither in the list of processes nor in a file that others can read", async () => {
    const { password } = new URL(server.url);
    const identity = await identifyProcess(server.pid);
    expect(identity?.command).to.contain("--datadir").and.not.contain(password);
    expect(await readFile(`${dataDir}/password`, "utf8")).to.equal(password);
    for (const file of ["password", "on-start.sql"]) {
      expect((await stat(`${dataDir}/${file}`)).mode & 0o077, file).to.equal(0);
    }
  });

  /** As one that recovers its data first; the `exec` keeps its process. */
  async function slowBinary(seconds: number): Promise<DatabaseBinary> {
    const path = `${folder}/slow-database`;
    const recovering = `case "$*" in *--port*) echo "recovering"; sleep ${seconds};; esac`;
    const program = await readFile(binary.path, "latin1");
    // One that is a script of the shell itself stays what it is, with the options that it gives.
    const script = program.startsWith("#!")
      ? program.replace("\n", `\n${recovering}\n`)
      : `#!/bin/sh\n${recovering}\nexec "${binary.path}" "$@"\n`;
    await writeFile(path, script, { mode: 0o755 });
    return { ...binary, path };
  }

  it("is waited for while it recovers, and says so", async () => {
    await server.stop();
    const lines: string[] = [];
    const patience = { onSlow: (line: string) => lines.push(line), slowAfterMs: 500 };
    server = await startDatabaseServer({ dataDir, binary: await slowBinary(2), patience });
    expect(lines.join("\n")).to.match(/^(mariadbd|mysqld) is not ready after \d+ s, and is waited for: .*recovering/s);
    expect(await ask(server.url, "SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
  });

  it("ends where it is no longer waited for", async () => {
    await server.stop();
    const signal = AbortSignal.timeout(300);
    const starting = startDatabaseServer({ dataDir, binary: await slowBinary(60), patience: { signal } });
    expect(await failureOf(starting)).to.be.instanceOf(StartStopped);
    server = await startDatabaseServer({ dataDir, binary });
    expect(await ask(server.url, "SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
  });

  it("says with the server's own words why it does not start", async () => {
    const starting = startDatabaseServer({ dataDir: `${folder}/other`, binary, port: server.port });
    const failure = await failureOf(starting);
    expect(failure).to.be.instanceOf(CannotStart);
    expect(failure.message).to.match(/address already in use/i);
  });
});
