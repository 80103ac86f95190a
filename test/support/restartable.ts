import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** A server of a test, which the test may take away and give back: on the same address, with the same data. */
export type Restartable = {
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Without warning, as a crash. */
  kill(): Promise<void>;
  /** It keeps its connections and its data, and does nothing at all until `resume`. */
  suspend(): void;
  resume(): Promise<void>;
};

/** A server that others may use too is not ours to stop: a door in front of it is shut instead. */
export async function shieldRunningServer(url: URL, defaultPort: number): Promise<Restartable & { proxy: TcpProxy }> {
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || defaultPort) });
  const { cut, restore, stall } = proxy;
  return { proxy, stop: cut, kill: cut, start: restore, suspend: stall, resume: restore };
}

type Server = { readonly pid: number; stop(): Promise<void>; kill(): Promise<void> };

/** A server process of the test's own. `launch` must start it on the address it had before. */
export function restartable(first: Server, launch: () => Promise<Server>): Restartable {
  let server: Server | null = first;
  const end = async (how: "stop" | "kill"): Promise<void> => {
    await server?.[how]();
    server = null;
  };
  return {
    stop: () => end("stop"),
    kill: () => end("kill"),
    start: async () => {
      server ??= await launch();
    },
    suspend: () => {
      if (server !== null) process.kill(server.pid, "SIGSTOP");
    },
    resume: async () => {
      if (server !== null) process.kill(server.pid, "SIGCONT");
    },
  };
}
