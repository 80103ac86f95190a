import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import mysql from "mysql2/promise";
import { CannotStart } from "../lifecycle.ts";
import { type ChildServer, startChildServer, untilReady } from "./child-server.ts";
import type { DatabaseBinary } from "./find-binary.ts";
import {
  asRoot,
  clearTemporaryFolder,
  initialiseDatabase,
  temporaryFolderIn,
  withoutDefaults,
} from "./initialise-database.ts";

export type DatabaseServerOptions = {
  /** Its data, secrets and log; a later start finds the data again. */
  readonly dataDir: string;
  readonly binary: DatabaseBinary;
  /** A free one if not given. */
  readonly port?: number;
};

export type OwnDatabaseServer = Pick<ChildServer, "pid" | "exited" | "stop" | "kill" | "lastWords"> & {
  readonly port: number;
  /** Of the database `waybill`, with the password of its user. */
  readonly url: string;
};

const database = "waybill";
const user = "waybill";

/**
 * Starts a MariaDB or MySQL server for this machine alone. Its only user that can be reached over TCP is `waybill`,
 * with a random password that stands in a file others cannot read, and rights on databases that begin with `waybill`.
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
      return await startOn({ binary: options.binary, folder, args, port, url });
    } catch (failure) {
      // Between looking for a free port and listening on it others may take it: MySQL needs a second to get there.
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
};

async function startOn({ binary, folder, args, port, url }: Launch): Promise<OwnDatabaseServer> {
  const name = binary.kind === "mariadb" ? "mariadbd" : "mysqld";
  const server = await startChildServer({ name, binary: binary.path, args, folder });
  await untilReady(server, name, () => answers(url));
  return { ...server, port, url };
}

async function toArguments({ kind, path }: DatabaseBinary, folder: string, port: number): Promise<string[]> {
  return [
    ...(await withoutDefaults(path)),
    `--datadir=${join(folder, "data")}`,
    `--init-file=${join(folder, initFileName)}`,
    `--pid-file=${join(folder, "data", "server.pid")}`,
    // At its start a server removes what looks like a temporary table of its own, from a shared folder also those of others.
    `--tmpdir=${temporaryFolderIn(folder)}`,
    // As seen from its data: the path of a socket may be 107 bytes long on Linux, and the folder may be deeper than that.
    "--socket=../mysql.sock",
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    // A process opens up to some thirty; commands, and other processes, may work on the same server.
    "--max-connections=500",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--performance-schema=OFF",
    "--character-set-server=utf8mb4",
    // What a power failure takes from a read model is projected again from the log, checkpoint and rows together.
    "--innodb-flush-log-at-trx-commit=2",
    // What is erased is overwritten in its pages; MySQL has nothing like it. One that does not know it goes on without.
    ...(kind === "mysql" ? ["--mysqlx=OFF"] : ["--loose-innodb-immediate-scrub-data-uncompressed=ON"]),
    ...asRoot(),
  ];
}

const initFileName = "on-start.sql";

/** Run by the server at each start before it listens; so a password file that was lost is no lost database. */
async function writeInitFile(folder: string, password: string): Promise<void> {
  const name = `'${user}'@'127.0.0.1'`;
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${database} CHARACTER SET utf8mb4`,
    `CREATE USER IF NOT EXISTS ${name} IDENTIFIED BY '${password}'`,
    `ALTER USER ${name} IDENTIFIED BY '${password}'`,
    `GRANT ALL PRIVILEGES ON \`${database}%\`.* TO ${name}`,
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

/** Whole or not at all, and never readable for others, not even for a moment. */
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
