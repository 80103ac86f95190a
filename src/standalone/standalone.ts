import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { makeKeyFile } from "../secrets/make-key-file.ts";
import {
  type CompleteConfig,
  type Config,
  mailServerOfWorkers,
  type NatsConfig,
  sendsMails,
} from "../settings/config.ts";
import { ownKeyFile } from "../settings/secret-settings.ts";
import { lockDataDir } from "./data-dir-lock.ts";
import type { AnswerRecipient } from "./demo-answers.ts";
import type { DatabaseBinary } from "./find-binary.ts";
import type { Print, ServerKind } from "./install-servers.ts";
import { keepRunning } from "./keep-running.ts";
import { type LocatedServers, locateServers } from "./locate-servers.ts";
import { type Mailbox, startMailbox } from "./mailbox.ts";
import { type OwnDatabaseServer, startDatabaseServer } from "./own-database-server.ts";
import { type OwnNatsServer, startNatsServer } from "./own-nats-server.ts";
import { removeAddresses, writeAddresses } from "./running-addresses.ts";

export type Standalone = {
  /** The given settings with the addresses of the started servers filled in. */
  readonly config: CompleteConfig;
  /** Null if the settings name a mail server, or the process sends no mails. */
  readonly mailbox: Mailbox | null;
  /** Stops the started servers in reverse order. Call it when nothing uses them any more. */
  stop(): Promise<void>;
};

type StandaloneOptions = {
  /** What the mailbox answers in place of taking a mail. */
  readonly answerRecipient?: AnswerRecipient | undefined;
  /** Is told what begins, for a person who waits. */
  readonly onStep?: Print;
  /** Ends a start that takes long: it then throws StartStopped. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Starts the servers that the settings do not name, with their data under `config.dataDir`, and a mailbox if no mail
 * server is named and this process sends mails. A server that ends by itself is started again, at the same address; all
 * end with this process, however it ends. On failure, stops everything it started and throws CannotStart with the remedy.
 * Calls `print` with a line for people if a step takes long or a server ends by itself.
 */
export async function startStandalone(
  config: Config,
  print: Print,
  { answerRecipient, onStep = () => {}, signal }: StandaloneOptions = {},
): Promise<Standalone> {
  const started: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let end = started.pop(); end !== undefined; end = started.pop()) await end();
  };
  const keep = async <Started extends { stop(): Promise<void> }>(starting: Promise<Started>): Promise<Started> => {
    const server = await starting;
    started.push(server.stop);
    return server;
  };
  try {
    const needed = serversNeeded(config);
    if (needed.size > 0) {
      started.push((await lockDataDir(config.dataDir)).release);
      await removeAddresses(config.dataDir);
    }
    const binaries = await locateServers(needed, config.mayInstall, print);
    const { dataDir } = config;
    if (needed.size > 0) onStep(stepOf(binaries, dataDir));
    const nats = binaries.nats === null ? null : keep(startNats(dataDir, binaries.nats, print, signal));
    const database = binaries.database === null ? null : keep(startDatabase(dataDir, binaries.database, print, signal));
    const mailbox = config.smtpUrl === null && sendsMails(config) ? keep(startMailbox(answerRecipient)) : null;
    // A failure waits for the other servers, so that all that did start are known and can be stopped.
    await Promise.allSettled([nats, database, mailbox]);
    const own = { nats: await nats, database: await database, mailbox: await mailbox };
    const complete = fillIn(await withKeyFile(config), own);
    if (needed.size > 0) {
      await writeAddresses(dataDir, complete);
      started.push(() => removeAddresses(dataDir));
    }
    return { config: complete, mailbox: own.mailbox, stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

/** The first start on a folder takes longer: the database server creates its own tables. */
function stepOf({ nats, database }: LocatedServers, dataDir: string): string {
  const names = [...(nats === null ? [] : ["nats-server"]), ...(database === null ? [] : [basename(database.path)])];
  const isNew = database !== null && !existsSync(join(dataDir, database.kind));
  return `Starting ${names.join(" and ")}${isNew ? ` with a new database in ${dataDir}, which takes some seconds` : ""} …`;
}

function serversNeeded({ nats, mysqlUrl }: Config): ReadonlySet<ServerKind> {
  const needed = new Set<ServerKind>();
  if (nats === null) needed.add("nats");
  if (mysqlUrl === null) needed.add("database");
  return needed;
}

/** What stays the same when a server is started again. */
type KeptNats = Pick<OwnNatsServer, "servers" | "user" | "password" | "stop">;
type KeptDatabase = Pick<OwnDatabaseServer, "url" | "stop">;

function startNats(dataDir: string, binary: string, print: Print, signal?: AbortSignal): Promise<KeptNats> {
  const options = { dataDir: join(dataDir, "nats"), binary };
  return keepRunning(
    { name: "nats-server", untilThen: "no job is accepted and no mail is sent" },
    () => startNatsServer({ ...options, patience: { onSlow: print, signal } }),
    ({ port, user, password }, stopping) => {
      const patience = { onSlow: print, signal: stopping };
      return startNatsServer({ ...options, port, credentials: { user, password }, patience });
    },
    print,
  );
}

/** MariaDB and MySQL cannot read each other's data, so each has its own folder; a new database is rebuilt from the log. */
function startDatabase(
  dataDir: string,
  binary: DatabaseBinary,
  print: Print,
  signal?: AbortSignal,
): Promise<KeptDatabase> {
  const options = { dataDir: join(dataDir, binary.kind), binary };
  return keepRunning(
    { name: "The database", untilThen: "jobs are accepted and mailed, and what is listed is refused" },
    () => startDatabaseServer({ ...options, patience: { onSlow: print, signal } }),
    ({ port }, stopping) => startDatabaseServer({ ...options, port, patience: { onSlow: print, signal: stopping } }),
    print,
  );
}

type OwnServers = {
  readonly nats: KeptNats | null;
  readonly database: KeptDatabase | null;
  readonly mailbox: Mailbox | null;
};

function fillIn(config: Config, { nats, database, mailbox }: OwnServers): CompleteConfig {
  return {
    ...config,
    nats: config.nats ?? toNatsConfig(present(nats)),
    mysqlUrl: config.mysqlUrl ?? present(database).url,
    smtpUrl: config.smtpUrl ?? mailbox?.smtpUrl ?? mailServerOfWorkers,
  };
}

/** What Waybill keeps in a NATS of its own is encrypted from the start. */
async function withKeyFile(config: Config): Promise<Config> {
  if (config.nats !== null || config.secretsKeyFile !== null) return config;
  const secretsKeyFile = ownKeyFile(config.dataDir);
  await makeKeyFile(secretsKeyFile);
  return { ...config, secretsKeyFile };
}

const toNatsConfig = ({ servers, user, password }: KeptNats): NatsConfig => ({
  servers,
  user,
  password,
  credsFile: null,
  caFile: null,
  isOwn: true,
});

function present<Server>(server: Server | null): Server {
  if (server === null) throw new Error("A server that the settings do not name was not started.");
  return server;
}
