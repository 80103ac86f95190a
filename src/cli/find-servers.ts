import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { CompleteConfig, Config } from "../settings/config.ts";
import { DataDirInUse } from "../standalone/data-dir-lock.ts";
import { readAddresses } from "../standalone/running-addresses.ts";
import { startStandalone } from "../standalone/standalone.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

export type Servers = {
  readonly config: CompleteConfig;
  stop(): Promise<void>;
};

/** The servers that a command needs. A server that it does not need has no address and is not started. */
export type Needed = "nats" | "nats-and-database";

/**
 * Returns the servers that the settings name; otherwise those of the service that runs in the data folder, or ran there,
 * in which case it starts them for the duration of the command. Prints which ones, so that the user does not take one
 * service for another. Throws CommandFailed if there are none: new servers would be empty, and their answers wrong.
 */
export async function findServers(
  config: Config,
  { tell, interrupted }: CommandContext,
  needed: Needed,
): Promise<Servers> {
  const spared = needed === "nats" ? { mysqlUrl: config.mysqlUrl ?? "mysql://localhost" } : {};
  // A command sends no mail.
  const wanted: Config = { ...config, ...spared, smtpUrl: config.smtpUrl ?? "" };
  await refuseWithoutService(wanted);
  const isOwn = wanted.nats === null || wanted.mysqlUrl === null;
  const where = resolve(config.dataDir);
  try {
    const { config: complete, stop } = await startStandalone(wanted, tell, { signal: interrupted });
    const own = isOwn ? `the servers in ${where}, started for this command, as no service runs there` : null;
    tell(inWords(wanted, needed, own));
    return { config: complete, stop };
  } catch (failure) {
    const running = failure instanceof DataDirInUse ? await readAddresses(config.dataDir) : null;
    if (running === null) throw failure;
    tell(inWords(wanted, needed, `the servers of the service that runs in ${where}`));
    const { nats, mysqlUrl, smtpUrl } = wanted;
    const addresses = { nats: nats ?? running.nats, mysqlUrl: mysqlUrl ?? running.mysqlUrl, smtpUrl: smtpUrl ?? "" };
    return { config: { ...wanted, ...addresses }, stop: async () => {} };
  }
}

async function refuseWithoutService({ nats, mysqlUrl, dataDir }: Config): Promise<void> {
  if (nats !== null && mysqlUrl !== null) return;
  // The database can be rebuilt from the log, so its folder may have been removed.
  const traces = nats === null ? [join("nats", "store")] : ["mariadb", "mysql"];
  const found = await Promise.all(traces.map((trace) => stat(join(dataDir, trace)).then(() => true, isNotMissing)));
  if (found.includes(true)) return;
  throw new CommandFailed(
    `${nats === null ? "NATS_URL" : "MYSQL_URL"} is not set, and no service has run in ${resolve(dataDir)}.
Start one there with: waybill start (in a checkout: npm start). Or name the servers of the one you mean (NATS_URL,
MYSQL_URL), or its folder (DATA_DIR). This command works on the servers, not over WAYBILL_URL.`,
  );
}

/** A folder that exists but cannot be read counts as found: its server reports the error when it starts. */
const isNotMissing = (failure: NodeJS.ErrnoException): boolean => failure.code !== "ENOENT";

/** Contains only hosts and names, because an address can contain a password. */
function inWords({ nats, mysqlUrl, natsPrefix }: Config, needed: Needed, own: string | null): string {
  const prefix = natsPrefix === "" ? "" : ` with NATS_PREFIX ${natsPrefix}`;
  const named = [
    ...(nats === null ? [] : [`NATS ${nats.servers.map(hostOf).join(", ")}${prefix}`]),
    ...(mysqlUrl === null || needed === "nats" ? [] : [`the database ${databaseOf(mysqlUrl)}`]),
  ];
  return `Working on ${[...named, ...(own === null ? [] : [own])].join(" and ")}.`;
}

const hostOf = (server: string): string => server.replace(/^.*(?:\/\/|@)/, "").replace(/[/?].*$/, "");

function databaseOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
