import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { connect } from "nats";
import type { NatsConfig } from "../../src/settings/config.ts";
import { startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { type Restartable, restartable, shieldRunningServer } from "./restartable.ts";
import { findDatabaseSource, findNatsSource } from "./server-sources.ts";
import { copySystemTables } from "./system-tables.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import type { WatchedServer } from "./watch-shared-nats.ts";

/** NATS with JetStream. `prefix` belongs to one test file: its streams, buckets and subjects begin with it. */
export type TestNats = {
  readonly config: NatsConfig;
  readonly prefix: string;
  /** Removes the file's streams, or ends the server that was started for the file. */
  cleanUp(): Promise<void>;
};

/** A NATS server that a test may stop, kill, suspend and fill. */
export type OwnNats = TestNats &
  Restartable & {
    /** The process that was started first; null where the server ran already. */
    readonly server: WatchedServer | null;
  };

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

export type TestMysql = Restartable & {
  /** With the rights to make databases. */
  readonly url: string;
  /** An empty database of one's own. */
  freshDatabase(): Promise<TestDatabase>;
  cleanUp(): Promise<void>;
};

let sharedNats: Promise<NatsConfig> | null = null;

/**
 * The one NATS server that all test files share, for one file: call it in `before`, and `cleanUp` in `after`. It ends
 * with the run, so no test may stop it.
 */
export async function startNats(): Promise<TestNats> {
  sharedNats ??= findSharedNats();
  const config = await sharedNats;
  const prefix = newPrefix();
  return { config, prefix, cleanUp: () => removeStreams(config, prefix) };
}

async function findSharedNats(): Promise<NatsConfig> {
  const url = process.env["TEST_SHARED_NATS_URL"];
  if (url !== undefined) return toConfig(new URL(url));
  return (await startOwnNats()).config;
}

/** A NATS server for a test that stops or fills it: `cleanUp` in `after`. It stores in the folder, if given. */
export async function startOwnNats(folder?: string): Promise<OwnNats> {
  const source = await findNatsSource();
  if (source.kind === "running") return useRunningNats(new URL(source.url));
  const { binary } = source;
  const dataDir = folder ?? (await temporaryFolder());
  const first = await startNatsServer({ dataDir, binary });
  const { user, password, port } = first;
  const life = restartable(first, () => startNatsServer({ dataDir, binary, port, credentials: { user, password } }));
  const cleanUp = async (): Promise<void> => {
    await life.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);
  const config = { servers: [`127.0.0.1:${port}`], user, password, credsFile: null, caFile: null, isOwn: false };
  const server = { pid: first.pid, logFile: join(dataDir, "nats-server.log"), folder: dataDir };
  return { ...life, config, prefix: newPrefix(), server, cleanUp };
}

async function useRunningNats(url: URL): Promise<OwnNats> {
  const { proxy, ...life } = await shieldRunningServer(url, 4222);
  const config = { ...toConfig(url), servers: [`127.0.0.1:${proxy.port}`] };
  const prefix = newPrefix();
  const cleanUp = async (): Promise<void> => {
    await life.start();
    await removeStreams(config, prefix);
    await proxy.stop();
  };
  atEndOfRun(proxy.stop);
  return { ...life, config, prefix, server: null, cleanUp };
}

const newPrefix = (): string => `t${randomBytes(5).toString("hex")}`;

/** The other way round, for a process that gets the address through its environment. */
export function toNatsUrl({ servers, user, password }: NatsConfig): string {
  const url = new URL(`nats://${servers[0]}`);
  url.username = user ?? "";
  url.password = password ?? "";
  return url.href;
}

const toConfig = (url: URL): NatsConfig => ({
  servers: [`${url.hostname}:${url.port || 4222}`],
  user: decodeURIComponent(url.username) || null,
  password: decodeURIComponent(url.password) || null,
  credsFile: null,
  caFile: null,
  isOwn: false,
});

async function removeStreams({ servers, user, password }: NatsConfig, prefix: string): Promise<void> {
  const login = user === null ? {} : { user, ...(password === null ? {} : { pass: password }) };
  const connection = await connect({ servers: [...servers], ...login });
  const manager = await connection.jetstreamManager();
  for await (const name of manager.streams.names()) {
    if (["", "KV_", "OBJ_"].some((kind) => name.startsWith(kind + prefix))) await manager.streams.delete(name);
  }
  await connection.close();
}

let sharedMysql: Promise<TestMysql> | null = null;

/** The one database server that all test files share; it ends with the run, so no test may stop it. */
export async function startMysql(): Promise<Pick<TestMysql, "freshDatabase">> {
  const url = process.env["TEST_SHARED_MYSQL_URL"];
  if (url !== undefined) return { freshDatabase: () => createDatabase(url) };
  sharedMysql ??= startOwnMysql();
  return sharedMysql;
}

/** An empty database on the shared server, for one test file: `drop` it in `after`. */
export const freshDatabase = async (): Promise<TestDatabase> => (await startMysql()).freshDatabase();

/** A database server for a test that stops it: `cleanUp` in `after`. It stores in the folder, if given. */
export async function startOwnMysql(folder?: string): Promise<TestMysql> {
  const source = await findDatabaseSource();
  if (source.kind === "running") return useRunningMysql(new URL(source.url));
  const { binary } = source;
  const dataDir = folder ?? (await temporaryFolder());
  await copySystemTables(dataDir);
  const first = await startDatabaseServer({ dataDir, binary });
  const { port, url } = first;
  const life = restartable(first, () => startDatabaseServer({ dataDir, binary, port }));
  const cleanUp = async (): Promise<void> => {
    await life.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);
  return { ...life, url, freshDatabase: () => createDatabase(url), cleanUp };
}

async function useRunningMysql(url: URL): Promise<TestMysql> {
  const { proxy, ...life } = await shieldRunningServer(url, 3306);
  const address = new URL(url);
  address.hostname = "127.0.0.1";
  address.port = String(proxy.port);
  atEndOfRun(proxy.stop);
  return { ...life, url: address.href, freshDatabase: () => createDatabase(address.href), cleanUp: proxy.stop };
}

async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `waybill_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await ask(serverUrl, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  return { url: url.href, drop: () => ask(serverUrl, `DROP DATABASE IF EXISTS ${name}`) };
}

async function ask(url: string, statement: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
