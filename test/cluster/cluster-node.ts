import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NatsConfig } from "../../src/settings/config.ts";
import { type ChildServer, startChildServer, untilReady } from "../../src/standalone/child-server.ts";
import type { OneWay, Routes } from "./routes.ts";

/** One server of the cluster. It keeps its address, and its data unless they are wiped. */
export type ClusterNode = {
  readonly name: string;
  /** To connect to this server and to no other. */
  readonly config: NatsConfig;
  /** Its monitoring port. */
  readonly monitorUrl: string;
  /** False while it is stopped, killed, frozen, or without its routes. */
  readonly isWhole: () => boolean;
  stop(): Promise<void>;
  /** SIGKILL, as a crash. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** It runs this `nats-server` from its next start on. */
  use(binary: string): void;
  /** SIGSTOP: connections stay open, and nothing is answered until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Lame duck mode: it sends its clients away one by one, and ends. */
  retire(): Promise<void>;
  /** Removes all that it has stored. It must be stopped. */
  wipe(): Promise<void>;
  /** Copies all that it has stored, while it runs or not, and its own log. */
  copyTo(target: string): Promise<void>;
  /** Breaks its routes to the others; clients still reach it. */
  cutOff(): Promise<void>;
  /** Lets its routes, or the one to another server, swallow everything until `rejoin`, which passes it on. */
  stall(other?: ClusterNode): void;
  /** The others hear nothing of it until `rejoin`, or it hears nothing of them. */
  stallOneWay(held: OneWay): void;
  rejoin(): Promise<void>;
};

type Ports = { readonly nats: number; readonly cluster: number; readonly monitoring: number };

type NodeOptions = {
  readonly name: string;
  readonly binary: string;
  readonly folder: string;
  readonly routes: Routes;
  /** Every message is on the disk before it is acknowledged; NATS 2.10 or later. */
  readonly isSynced?: boolean;
};

/** Starts it; it is ready once the others are there too. */
export async function startClusterNode(options: NodeOptions): Promise<ClusterNode> {
  const { name, folder, routes, isSynced = false } = options;
  let { binary } = options;
  const store = join(folder, "store");
  let ports: Ports = { nats: -1, cluster: -1, monitoring: -1 };
  let server: ChildServer | null = null;
  let isFrozen = false;
  let hasRoutes = true;

  const start = async (): Promise<void> => {
    if (server !== null) return;
    const portsFolder = join(folder, "ports");
    await rm(portsFolder, { recursive: true, force: true });
    await mkdir(portsFolder, { recursive: true });
    const configFile = join(folder, "nats-server.conf");
    const config = toServerConfig({ name, store, isSynced, portsFolder, ports, routes: routes.urlsFrom(name) });
    await writeFile(configFile, JSON.stringify(config, null, 2));
    const child = await startChildServer({ name: "nats-server", binary, args: ["-c", configFile], folder });
    ports = await untilReady(child, "nats-server", () => readPorts(portsFolder));
    routes.listensOn(name, ports.cluster);
    server = child;
  };
  const thaw = (): void => {
    if (server !== null && isFrozen) process.kill(server.pid, "SIGCONT");
    isFrozen = false;
  };
  const end = async (how: "stop" | "kill"): Promise<void> => {
    thaw();
    await server?.[how]();
    server = null;
  };

  await start();
  return {
    name,
    config: toConfig([ports.nats]),
    monitorUrl: `http://127.0.0.1:${ports.monitoring}`,
    isWhole: () => server !== null && !isFrozen && hasRoutes,
    stop: () => end("stop"),
    kill: () => end("kill"),
    start,
    use: (other) => {
      binary = other;
    },
    freeze: () => {
      if (server !== null) process.kill(server.pid, "SIGSTOP");
      isFrozen = server !== null;
    },
    thaw,
    retire: async () => {
      const leaving = server;
      if (leaving === null) return;
      process.kill(leaving.pid, "SIGUSR2");
      await leaving.exited;
      server = null;
    },
    wipe: async () => {
      if (server !== null) throw new Error(`${name} still runs: its data cannot be wiped`);
      await rm(store, { recursive: true, force: true });
    },
    copyTo: async (target) => {
      await cp(store, join(target, "store"), { recursive: true });
      for (const entry of await readdir(folder))
        if (entry.endsWith(".log")) await cp(join(folder, entry), join(target, entry));
    },
    cutOff: () => {
      hasRoutes = false;
      return routes.cutOff(name);
    },
    stall: (other) => {
      hasRoutes = false;
      if (other === undefined) routes.stall(name);
      else routes.stallBetween(name, other.name);
    },
    stallOneWay: (held) => {
      hasRoutes = false;
      routes.stallOneWay(name, held);
    },
    rejoin: () => {
      hasRoutes = true;
      return routes.restore(name);
    },
  };
}

export const toConfig = (ports: readonly number[]): NatsConfig => ({
  servers: ports.map((port) => `127.0.0.1:${port}`),
  user: null,
  password: null,
  credsFile: null,
  caFile: null,
  isOwn: false,
});

type ServerSettings = {
  readonly name: string;
  readonly store: string;
  readonly isSynced: boolean;
  readonly portsFolder: string;
  readonly ports: Ports;
  readonly routes: readonly string[];
};

const toServerConfig = ({ name, store, isSynced, portsFolder, ports, routes }: ServerSettings) => ({
  server_name: name,
  host: "127.0.0.1",
  // Free ones at first, and the same again later.
  port: ports.nats,
  http_port: ports.monitoring,
  ports_file_dir: portsFolder,
  jetstream: { store_dir: store, ...(isSynced ? { sync_interval: "always" } : {}) },
  // The least that the server takes.
  lame_duck_duration: "30s",
  lame_duck_grace_period: "2s",
  cluster: {
    name: "waybill",
    host: "127.0.0.1",
    port: ports.cluster,
    // No server listens there: the addresses that servers exchange must not lead past the proxies.
    advertise: "127.0.0.1:1",
    no_advertise: true,
    routes,
  },
});

/** From `{"nats": ["nats://127.0.0.1:41234"], "cluster": […]}`; null until the file is there and whole. */
async function readPorts(folder: string): Promise<Ports | null> {
  const file = (await readdir(folder)).find((entry) => entry.endsWith(".ports"));
  if (file === undefined) return null;
  try {
    const found: Partial<Record<keyof Ports, readonly string[]>> = JSON.parse(
      await readFile(join(folder, file), "utf8"),
    );
    const portIn = (urls: readonly string[] = []): number => Number(/:(\d+)$/.exec(urls[0] ?? "")?.[1]);
    const ports = { nats: portIn(found.nats), cluster: portIn(found.cluster), monitoring: portIn(found.monitoring) };
    return Math.min(ports.nats, ports.cluster, ports.monitoring) > 0 ? ports : null;
  } catch {
    return null;
  }
}
