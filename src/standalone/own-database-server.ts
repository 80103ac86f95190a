import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import mysql from "mysql2/promise";
import { CannotStart } from "../process/lifecycle.ts";
import { type ChildServer, type StartPatience, startChildServer, untilReady } from "./child-server.ts";
import type { DatabaseBinary } from "./find-binary.ts";
import {
  asRoot,
  clearTemporaryFolder,
  initialiseDatabase,
  temporaryFolderIn,
  withoutDefaults,
} from "./initialise-database.ts";

export type DatabaseServerOptions = {
  /** The folder for its data, secrets and log; a later start finds the data again. */
  readonly dataDir: string;
  readonly binary: DatabaseBinary;
  /** A free port if it is not given. */
  readonly port?: number;
  readonly patience?: StartPatience;
};

export type OwnDatabaseServer = Pick<ChildServer, "pid" | "exited" | "stop" | "kill" | "lastWords"> & {
  readonly port: number;
  /** The URL of the database `waybill`, with user and password. */
  readonly url: string;
};

const database = "waybill";
const user = "waybill";

/**
 * Starts a MariaDB or MySQL server that only this machine can reach. The only user that can log in over TCP is `waybill`,
 * with a random password in a file that other users cannot read, and rights on databases whose names begin with `waybill`.
 */
export async function startDatabaseServer(options: DatabaseServerOptions): Promise<OwnDatabaseServer> {
  const folder = resolve(options.dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await initialiseDatabase(options.binary, join(folder, "data"));
  const password = await keepPassword(folder);
  await clearTemporaryFolder(folder);
  await writeInitFile(folder, password);
  for (let attemptsLeft = 5; ; attemptsLeft -= 1) {
    const port = options.port ?? (await findFreePort());
    const args = await toArguments(options.binary, folder, port);
    const url = `mysql://${user}:${password}@127.0.0.1:${port}/${database}`;
    try {
      return await startOn({ binary: options.binary, folder, args, port, url, patience: options.patience });
    } catch (failure) {
      // Another process may take the free port before the server listens on it: MySQL needs a second to get there.
      const lostThePort = failure instanceof CannotStart && /address already in use/i.test(failure.message);
      if (!lostThePort || options.port !== undefined || attemptsLeft === 0) throw failure;
    }
  }
}

type Launch = {
  readonly binary: DatabaseBinary;
  readonly folder: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly url: string;
  readonly patience: StartPatience | undefined;
};

async function startOn({ binary, folder, args, port, url, patience }: Launch): Promise<OwnDatabaseServer> {
  const name = binary.kind === "mariadb" ? "mariadbd" : "mysqld";
  const server = await startChildServer({ name, binary: binary.path, args, folder });
  await untilReady(server, name, () => answers(url), patience);
  return { ...server, port, url };
}

async function toArguments({ kind, path }: DatabaseBinary, folder: string, port: number): Promise<string[]> {
  return [
    ...(await withoutDefaults(path)),
    `--datadir=${join(folder, "data")}`,
    `--init-file=${join(folder, initFileName)}`,
    `--pid-file=${join(folder, "data", "server.pid")}`,
    // At its start a server removes files that look like its temporary tables; in a shared folder also those of other servers.
    `--tmpdir=${temporaryFolderIn(folder)}`,
    // Relative to the data folder: on Linux the path of a socket may have at most 107 bytes, and the folder may be deeper.
    "--socket=../mysql.sock",
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    // A process opens about thirty connections; commands and other processes may use the same server.
    "--max-connections=500",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--performance-schema=OFF",
    "--character-set-server=utf8mb4",
    // Rows of a read model that a power failure loses, checkpoint and all, are projected again from the log.
    "--innodb-flush-log-at-trx-commit=2",
    // MariaDB overwrites deleted rows in their pages. MySQL has no such option; a MariaDB without it ignores the setting.
    ...(kind === "mysql" ? ["--mysqlx=OFF"] : ["--loose-innodb-immediate-scrub-data-uncompressed=ON"]),
    ...asRoot(),
  ];
}

const initFileName = "on-start.sql";

/** The server runs this file at each start before it listens, so a lost password file does not lose the database. */
async function writeInitFile(folder: string, password: string): Promise<void> {
  const name = `'${user}'@'127.0.0.1'`;
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${database} CHARACTER SET utf8mb4`,
    `CREATE USER IF NOT EXISTS ${name} IDENTIFIED BY '${password}'`,
    `ALTER USER ${name} IDENTIFIED BY '${password}'`,
    `GRANT ALL PRIVILEGES ON \`${database}%\`.* TO ${name}`,
    // To name the session that keeps a table from being dropped.
    `GRANT PROCESS ON *.* TO ${name}`,
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${randomBytes(24).toString("base64url")}'`,
  ];
  await writePrivately(join(folder, initFileName), statements.map((statement) => `${statement};\n`).join(""));
}

async function keepPassword(folder: string): Promise<string> {
  const file = join(folder, "password");
  const kept = await readFile(file, "utf8").catch(() => "");
  if (/^[\w-]{16,}$/.test(kept)) return kept;
  const password = randomBytes(24).toString("base64url");
  await writePrivately(file, password);
  return password;
}

/** Writes the file whole or not at all, and at no moment readable for other users. */
async function writePrivately(file: string, text: string): Promise<void> {
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new CannotStart("There is no free port on 127.0.0.1");
  return address.port;
}

async function answers(url: string): Promise<true | null> {
  try {
    const connection = await mysql.createConnection({ uri: url, connectTimeout: 2000 });
    try {
      await connection.query("SELECT 1");
      return true;
    } finally {
      await connection.end();
    }
  } catch {
    return null;
  }
}
