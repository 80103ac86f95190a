import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CompleteConfig, Config } from "../config.ts";
import { DataDirInUse } from "../standalone/cannot-start.ts";
import { readAddresses } from "../standalone/running-addresses.ts";
import { startStandalone } from "../standalone/standalone.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

export type Servers = {
  readonly config: CompleteConfig;
  /** Nothing of the service ran in the data folder: its servers were started for this command alone. */
  readonly areBegun: boolean;
  stop(): Promise<void>;
};

/**
 * What to do where no server is named and no service has ever run here: `refuse`, as new servers would be those of
 * nobody, and what they answer is wrong; or `begin` there, and say so.
 */
export type WhereNobodyWas = "refuse" | "begin";

/** The named ones; else those of the service that runs in the data folder; else one's own, for as long as it takes. */
export async function findServers(
  config: Config,
  { tell }: CommandContext,
  whereNobodyWas: WhereNobodyWas,
): Promise<Servers> {
  await sayWhereNobodyWas(config, whereNobodyWas, tell);
  try {
    const { config: complete, stop } = await startStandalone(config, tell);
    return { config: complete, areBegun: config.nats === null || config.mysqlUrl === null, stop };
  } catch (failure) {
    const running = failure instanceof DataDirInUse ? await readAddresses(config.dataDir) : null;
    if (running === null) throw failure;
    const { nats, mysqlUrl, smtpUrl } = config;
    const complete = { ...config, nats: nats ?? running.nats, mysqlUrl: mysqlUrl ?? running.mysqlUrl };
    return { config: { ...complete, smtpUrl: smtpUrl ?? "" }, areBegun: false, stop: async () => {} };
  }
}

async function sayWhereNobodyWas(
  { nats, mysqlUrl, dataDir }: Config,
  whereNobodyWas: WhereNobodyWas,
  tell: CommandContext["tell"],
): Promise<void> {
  const isNamed = nats !== null && mysqlUrl !== null;
  if (isNamed || (await stat(dataDir).then(() => true, isOther))) return;
  const settings = nats === null ? "NATS_URL" : "MYSQL_URL";
  const nobody = `${settings} is not set, and no service has run here: there is no folder ${resolve(dataDir)}.`;
  if (whereNobodyWas === "refuse") {
    throw new CommandFailed(
      `${nobody}\nThis command works on the servers, not over WAYBILL_URL. Name them, or the folder of the service by DATA_DIR.`,
    );
  }
  tell(`${nobody} It is made, with servers of its own.`);
}

/** What is there and cannot be looked at is for whoever uses it to tell. */
const isOther = (failure: NodeJS.ErrnoException): boolean => failure.code !== "ENOENT";
