import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "nats";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import type { NatsConfig } from "../../../src/settings/config.ts";
import { startChildServer, untilReady } from "../../../src/standalone/child-server.ts";
import { findFreePort } from "../../support/free-port.ts";

export type UnsyncedNats = { readonly pid: number; readonly config: NatsConfig; stop(): Promise<void> };

/**
 * A NATS that leaves to the system when something is on the disk: only to write quickly what another one, started on the
 * same folder as operators start it, then reads.
 */
export async function startUnsyncedNats(
  folder: string,
  binary: string,
  lifecycle: Pick<Lifecycle, "started">,
): Promise<UnsyncedNats> {
  const port = await findFreePort();
  const configFile = join(folder, "writing.conf");
  const config = { host: "127.0.0.1", port, jetstream: { store_dir: join(folder, "store") } };
  await mkdir(folder, { recursive: true });
  await writeFile(configFile, JSON.stringify(config));
  const name = "nats-server";
  const server = await startChildServer({ name, binary, args: ["-c", configFile], folder });
  lifecycle.started("the NATS to write with", server.stop);
  const servers = [`127.0.0.1:${port}`];
  await untilReady(server, name, () => answers(servers));
  return {
    pid: server.pid,
    config: { servers, user: null, password: null, credsFile: null, caFile: null, isOwn: false },
    stop: server.stop,
  };
}

async function answers(servers: readonly string[]): Promise<true | null> {
  try {
    await (await connect({ servers: [...servers], reconnect: false })).close();
    return true;
  } catch {
    return null;
  }
}
