import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { connect, type NatsConnection } from "nats";
import type { NatsConfig } from "../../src/config.ts";
import type { Lifecycle } from "../../src/lifecycle.ts";
import { versionOf } from "../../src/standalone/find-binary.ts";
import { startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The servers of the whole run, which only the benchmark uses, so that their use of resources can be measured. */
export type Ground = {
  readonly nats: { readonly pid: number; readonly config: NatsConfig; readonly version: string; readonly sync: string };
  readonly database: { readonly pid: number; readonly version: string; readonly flush: string };
  /** An empty database of one's own on the one server. */
  freshDatabase(): Promise<string>;
  /** A connection to NATS that the lifecycle closes. */
  connectNats(lifecycle: Lifecycle): Promise<NatsConnection>;
};

/** As `npm start` would start them, settings and all. */
export async function layGround(lifecycle: Lifecycle): Promise<Ground> {
  const binaries = await locateOwnBinaries();
  const folder = await temporaryFolder();
  lifecycle.started("the folder of the servers", () =>
    rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }),
  );
  const nats = await startNatsServer({ dataDir: join(folder, "nats"), binary: binaries.nats });
  lifecycle.started("nats-server", nats.stop);
  const database = await startDatabaseServer({ dataDir: join(folder, "database"), binary: binaries.database });
  lifecycle.started("the database server", database.stop);
  const { servers, user, password } = nats;
  const [version, flush] = await describeDatabase(database.url);
  return {
    nats: {
      pid: nats.pid,
      config: { servers, user, password, credsFile: null, caFile: null },
      version: await versionOf(binaries.nats),
      sync: await readSync(join(folder, "nats", "nats-server.conf")),
    },
    database: { pid: database.pid, version, flush },
    freshDatabase: () => createDatabase(database.url),
    connectNats: async (owner) => {
      const connection = await connect({ servers: [...servers], user, pass: password });
      owner.started("a connection to NATS", () => connection.close());
      return connection;
    },
  };
}

/** As the server was told, not as it should be. */
async function readSync(configFile: string): Promise<string> {
  const { jetstream }: { jetstream: { sync_interval?: string } } = JSON.parse(await readFile(configFile, "utf8"));
  return jetstream.sync_interval ?? "not set (the server's default: every 2 minutes)";
}

async function describeDatabase(url: string): Promise<readonly [version: string, flush: string]> {
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      "SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush",
    );
    return [String(rows[0]?.["version"]), String(rows[0]?.["flush"])];
  } finally {
    await connection.end();
  }
}

async function createDatabase(serverUrl: string): Promise<string> {
  const url = new URL(serverUrl);
  url.pathname = `/waybill_bench_${randomBytes(6).toString("hex")}`;
  const connection = await mysql.createConnection(serverUrl);
  try {
    await connection.query(`CREATE DATABASE ${url.pathname.slice(1)} CHARACTER SET utf8mb4`);
    return url.href;
  } finally {
    await connection.end();
  }
}
