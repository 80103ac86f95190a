import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CompleteConfig, NatsConfig } from "../config.ts";

/** Where the servers of the service that works in a data folder listen, with what it takes to log in. */
export type RunningAddresses = { readonly nats: NatsConfig; readonly mysqlUrl: string };

const fileIn = (dataDir: string): string => join(dataDir, "addresses.json");

/** For commands beside a running service; nobody else can read the file. */
export async function writeAddresses(dataDir: string, { nats, mysqlUrl }: CompleteConfig): Promise<void> {
  await writeFile(fileIn(dataDir), JSON.stringify({ nats, mysqlUrl } satisfies RunningAddresses), { mode: 0o600 });
}

export const removeAddresses = (dataDir: string): Promise<void> => rm(fileIn(dataDir), { force: true });

/** Null where no service wrote them, or it is not ready yet. */
export async function readAddresses(dataDir: string): Promise<RunningAddresses | null> {
  const content = await readFile(fileIn(dataDir), "utf8").catch(() => null);
  return content === null ? null : JSON.parse(content);
}
