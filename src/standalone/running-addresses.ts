import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CompleteConfig, NatsConfig } from "../settings/config.ts";

/** The addresses and credentials of the servers that the service in a data folder uses. */
export type RunningAddresses = { readonly nats: NatsConfig; readonly mysqlUrl: string };

const fileIn = (dataDir: string): string => join(dataDir, "addresses.json");

/** Writes them for commands beside a running service. Other users cannot read the file. */
export async function writeAddresses(dataDir: string, { nats, mysqlUrl }: CompleteConfig): Promise<void> {
  await writeFile(fileIn(dataDir), JSON.stringify({ nats, mysqlUrl } satisfies RunningAddresses), { mode: 0o600 });
}

export const removeAddresses = (dataDir: string): Promise<void> => rm(fileIn(dataDir), { force: true });

/** Null if no service wrote the file, or the service is not ready yet. */
export async function readAddresses(dataDir: string): Promise<RunningAddresses | null> {
  const content = await readFile(fileIn(dataDir), "utf8").catch(() => null);
  return content === null ? null : JSON.parse(content);
}
