import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import mysql from "mysql2/promise";
import { connect } from "nats";
import type { NatsConfig } from "../../src/config.ts";
import { startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { type Restartable, restartable, shieldRunningServer } from "./restartable.ts";
import { findDatabaseSource, findNatsSource } from "./server-sources.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A NATS server with JetStream; `prefix` is this file's own, so that it has its own streams on any server. */
export type TestNats = Restartable & {
  readonly config: NatsConfig;
  readonly prefix: string;
  /** Ends the server, or removes this file's streams from one that goes on. */
  cleanUp(): Promise<void>;
};

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

export type TestMysql = Restartable & {
  /** With the rights to make databases. */
  readonly url: string;
  /** An empty database of one's own. */
  freshDatabase(): Promise<TestDatabase>;
  cleanUp(): Promise<void>;
};

/** For one test file: call it in `before`, and `cleanUp` in `after`. A server of its own stores in the folder, if given. */
export async function startNats(folder?: string): Promise<TestNats> {
  const source = await findNatsSource();
  const prefix = `t${randomBytes(5).toString("hex")}`;
  return source.kind === "running"
    ? useRunningNats(new URL(source.url), prefix)
    : startOwnNats(source.binary, prefix, folder);
}

async function startOwnNats(binary: string, prefix: string, folder?: string): Promise<TestNats> {
  const dataDir = folder ?? (await temporaryFolder());
  const first = await startNatsServer({ dataDir, binary });
  const { user, password, port } = first;
  const life = restartable(first, () => startNatsServer({ dataDir, binary, port, credentials: { user, password } }));
  const cleanUp = async (): Promise<void> => {
    await life.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);
  return { ...life, config: { ...toConfig(port), user, password }, prefix, cleanUp };
}

async function useRunningNats(url: URL, prefix: string): Promise<TestNats> {
  const { proxy, ...life } = await shieldRunningServer(url, 4222);
  const user = decodeURIComponent(url.username) || null;
  const password = decodeURIComponent(url.password) || null;
  const config = { ...toConfig(proxy.port), user, password };
  const cleanUp = async (): Promise<void> => {
    await life.start();
    await removeStreams(config, prefix);
    await proxy.stop();
  };
  return { ...life, config, prefix, cleanUp };
}

const toConfig = (port: number): NatsConfig => ({
  servers: [`127.0.0.1:${port}`],
  user: null,
  password: null,
  credsFile: null,
  caFile: null,
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

let shared: Promise<TestMysql> | null = null;

/** The one database server that all test files share; it ends with the run, so no test may stop it. */
export async function startMysql(): Promise<Pick<TestMysql, "freshDatabase">> {
  const url = process.env["TEST_SHARED_MYSQL_URL"];
  if (url !== undefined) return { freshDatabase: () => createDatabase(url) };
  shared ??= startOwnMysql();
  return shared;
}

/** An empty database on the shared server, for one test file: `drop` it in `after`. */
export const freshDatabase = async (): Promise<TestDatabase> => (await startMysql()).freshDatabase();

/** A database server for a test that stops it: `cleanUp` in `after`. It stores in the folder, if given. */
export async function startOwnMysql(folder?: string): Promise<TestMysql> {
  const source = await findDatabaseSource();
  if (source.kind === "running") return useRunningMysql(new URL(source.url));
  const { binary } = source;
  const dataDir = folder ?? (await temporaryFolder());
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
