import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type ChildServer, type StartPatience, startChildServer, untilReady } from "./child-server.ts";
import { versionOf } from "./find-binary.ts";

export type NatsCredentials = { readonly user: string; readonly password: string };

export type NatsServerOptions = {
  /** The folder for its data, configuration and log; a later start finds the data again. */
  readonly dataDir: string;
  readonly binary: string;
  /** A free port if it is not given. */
  readonly port?: number;
  /** Random credentials if they are not given. */
  readonly credentials?: NatsCredentials;
  readonly patience?: StartPatience;
};

export type OwnNatsServer = NatsCredentials &
  Pick<ChildServer, "pid" | "exited" | "stop" | "kill" | "lastWords"> & {
    readonly port: number;
    readonly servers: readonly string[];
  };

/** Starts a NATS server with JetStream that only this machine can reach. Other users cannot read the file with its password. */
export async function startNatsServer(options: NatsServerOptions): Promise<OwnNatsServer> {
  const folder = resolve(options.dataDir);
  const portsFolder = join(folder, "ports");
  await rm(portsFolder, { recursive: true, force: true });
  await mkdir(portsFolder, { recursive: true, mode: 0o700 });
  const credentials = options.credentials ?? { user: "waybill", password: randomBytes(24).toString("base64url") };
  const configFile = join(folder, "nats-server.conf");
  const config = toServerConfig({
    folder,
    portsFolder,
    credentials,
    // The server picks a free port itself and writes it to a file, so no other process can take the port in between.
    port: options.port ?? -1,
    syncsAlways: await knowsSyncInterval(options.binary),
  });
  await rm(configFile, { force: true });
  await writeFile(configFile, JSON.stringify(config, null, 2), { mode: 0o600 });
  const name = "nats-server";
  const server = await startChildServer({ name, binary: options.binary, args: ["-c", configFile], folder });
  const port = await untilReady(server, name, () => readPort(portsFolder), options.patience);
  return { ...server, ...credentials, port, servers: [`127.0.0.1:${port}`] };
}

type ServerConfig = {
  readonly folder: string;
  readonly portsFolder: string;
  readonly credentials: NatsCredentials;
  readonly port: number;
  readonly syncsAlways: boolean;
};

/** The server's configuration language takes JSON, so nothing needs quoting. */
const toServerConfig = ({ folder, portsFolder, credentials, port, syncsAlways }: ServerConfig) => ({
  host: "127.0.0.1",
  port,
  ports_file_dir: portsFolder,
  jetstream: {
    store_dir: join(folder, "store"),
    // Acknowledged messages must survive a power failure; by default NATS flushes every two minutes.
    ...(syncsAlways ? { sync_interval: "always" } : {}),
  },
  authorization: credentials,
});

/** Servers before 2.10 refuse to start with this setting in their configuration. */
async function knowsSyncInterval(binary: string): Promise<boolean> {
  const [, major = "0", minor = "0"] = /v(\d+)\.(\d+)/.exec(await versionOf(binary)) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10);
}

/** The port from `{"nats": ["nats://127.0.0.1:41234"]}`; null until the file exists and is complete. */
async function readPort(folder: string): Promise<number | null> {
  const file = (await readdir(folder)).find((name) => name.endsWith(".ports"));
  if (file === undefined) return null;
  try {
    const ports: { nats?: readonly string[] } = JSON.parse(await readFile(join(folder, file), "utf8"));
    return Number(/:(\d+)$/.exec(ports.nats?.[0] ?? "")?.[1]) || null;
  } catch {
    return null;
  }
}
