import type { CompleteConfig, Config } from "../config.ts";
import { DataDirInUse } from "../standalone/cannot-start.ts";
import { readAddresses } from "../standalone/running-addresses.ts";
import { startStandalone } from "../standalone/standalone.ts";
import type { CommandContext } from "./command-context.ts";

export type Servers = { readonly config: CompleteConfig; stop(): Promise<void> };

/** The named ones; else those of the service that runs in the data folder; else one's own, for as long as it takes. */
export async function findServers(config: Config, { tell }: CommandContext): Promise<Servers> {
  try {
    return await startStandalone(config, tell);
  } catch (failure) {
    const running = failure instanceof DataDirInUse ? await readAddresses(config.dataDir) : null;
    if (running === null) throw failure;
    const { nats, mysqlUrl, smtpUrl } = config;
    const complete = { ...config, nats: nats ?? running.nats, mysqlUrl: mysqlUrl ?? running.mysqlUrl };
    return { config: { ...complete, smtpUrl: smtpUrl ?? "" }, stop: async () => {} };
  }
}
