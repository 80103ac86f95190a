import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { type ChildServer, startChildServer, untilReady } from "../../src/standalone/child-server.ts";
import type { DatabaseBinary } from "../../src/standalone/find-binary.ts";
import {
  asRoot,
  clearTemporaryFolder,
  initialiseDatabase,
  withoutDefaults,
} from "../../src/standalone/initialise-database.ts";
import { findFreePort } from "../support/free-port.ts";

export type DatabaseServer = ChildServer & { readonly url: string };

/**
 * A database with the defaults of its makers, and what `compose.yaml` sets. The servers of `npm start` flush less often,
 * which operators of a database of their own do not have.
 */
export async function startDatabase(folder: string, { kind, path }: DatabaseBinary): Promise<DatabaseServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await initialiseDatabase({ kind, path }, join(folder, "data"));
  const initFile = join(folder, "on-start.sql");
  await writeFile(initFile, accounts, { mode: 0o600 });
  const port = await findFreePort();
  const name = kind === "mariadb" ? "mariadbd" : "mysqld";
  const args = [
    ...(await withoutDefaults(path)),
    `--datadir=${join(folder, "data")}`,
    `--tmpdir=${await clearTemporaryFolder(folder)}`,
    `--init-file=${initFile}`,
    // Relative to the data folder, because the path of a socket may have at most 107 bytes.
    "--socket=../mysql.sock",
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    "--skip-log-bin",
    "--skip-name-resolve",
    ...(kind === "mysql" ? ["--mysqlx=OFF"] : []),
    ...asRoot(),
  ];
  const server = await startChildServer({ name, binary: path, args, folder });
  const url = `mysql://waybill:waybill@127.0.0.1:${port}/`;
  await untilReady(server, name, () => answers(url));
  return { ...server, url };
}

/** Loopback only, and for the minutes of a run. */
const accounts = `CREATE USER IF NOT EXISTS 'waybill'@'127.0.0.1' IDENTIFIED BY 'waybill';
GRANT ALL PRIVILEGES ON *.* TO 'waybill'@'127.0.0.1';
`;

async function answers(url: string): Promise<true | null> {
  try {
    await (await mysql.createConnection({ uri: url, connectTimeout: 2000 })).end();
    return true;
  } catch {
    return null;
  }
}
