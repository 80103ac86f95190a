import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { connect, type NatsConnection } from "nats";
import type { Lifecycle } from "../../src/process/lifecycle.ts";
import type { NatsConfig } from "../../src/settings/config.ts";
import { versionOf } from "../../src/standalone/find-binary.ts";
import { type OwnNatsServer, startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type DatabaseServer, startDatabase } from "./database-server.ts";

export type GroundNats = {
  readonly pid: number;
  readonly config: NatsConfig;
  readonly version: string;
  /** Null: the server's default, every two minutes. */
  readonly syncInterval: string | null;
  readonly folder: string;
  readonly binary: string;
};

/** Servers that only one measurement uses, so that their use of resources can be measured. */
export type Ground = {
  readonly nats: GroundNats;
  readonly database: { readonly pid: number; readonly version: string; readonly settings: string };
  /** An empty database of one's own on the one server. */
  freshDatabase(): Promise<string>;
  /** A connection to NATS that the lifecycle closes. */
  connectNats(lifecycle: Lifecycle): Promise<NatsConnection>;
};

/** NATS as `npm start` configures it, the database with its own defaults. */
export async function layGround(lifecycle: Lifecycle): Promise<Ground> {
  const binaries = await locateOwnBinaries();
  const folder = await temporaryFolder();
  lifecycle.started("the folder of the servers", () =>
    rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }),
  );
  const nats = await startNats(join(folder, "nats"), binaries.nats, lifecycle);
  const database = await startDatabase(join(folder, "database"), binaries.database);
  lifecycle.started("the database server", database.stop);
  return {
    nats,
    database: { pid: database.pid, ...(await describeDatabase(database)) },
    freshDatabase: () => createDatabase(database.url),
    connectNats: async (owner) => {
      const { servers, user, password } = nats.config;
      const connection = await connect({ servers: [...servers], user: user ?? "", pass: password ?? "" });
      owner.started("a connection to NATS", () => connection.close());
      return connection;
    },
  };
}

export async function startNats(folder: string, binary: string, lifecycle: Lifecycle): Promise<GroundNats> {
  const server = await startNatsServer({ dataDir: folder, binary });
  lifecycle.started("nats-server", server.stop);
  return { ...toConfig(server), version: await versionOf(binary), ...(await readSync(folder)), folder, binary };
}

const toConfig = ({ pid, servers, user, password }: OwnNatsServer): Pick<GroundNats, "pid" | "config"> => ({
  pid,
  config: { servers, user, password, credsFile: null, caFile: null, isOwn: false },
});

/** As the server was told, not as it should be. */
async function readSync(folder: string): Promise<Pick<GroundNats, "syncInterval">> {
  const text = await readFile(join(folder, "nats-server.conf"), "utf8");
  const { jetstream }: { jetstream: { sync_interval?: string } } = JSON.parse(text);
  return { syncInterval: jetstream.sync_interval ?? null };
}

const settings = ["innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size", "log_bin"] as const;

async function describeDatabase({ url }: DatabaseServer): Promise<Pick<Ground["database"], "version" | "settings">> {
  const connection = await mysql.createConnection(url);
  try {
    const columns = settings.map((name) => `@@${name} AS ${name}`);
    const [rows] = await connection.query<RowDataPacket[]>(`SELECT VERSION() AS version, ${columns.join(", ")}`);
    return {
      version: String(rows[0]?.["version"]),
      settings: settings.map((name) => `${name} ${rows[0]?.[name]}`).join(", "),
    };
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
