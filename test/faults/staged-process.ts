import { readdir, readFile } from "node:fs/promises";
import { eventually } from "../support/eventually.ts";
import { preloading } from "../support/preloading.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** One role of the service in a process that faults happen to. */
export type StagedProcess = {
  /** Does nothing where it runs already. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM; throws where it does not end with 0. */
  terminate(): Promise<void>;
  /** SIGSTOP: to other processes it looks as if it still ran. */
  suspend(): void;
  resume(): void;
  /** Files and connections that it holds open; 0 where the system does not tell. */
  openFiles(): Promise<number>;
  /** Memory that it takes of the machine; 0 where the system does not tell. */
  megabytes(): Promise<number>;
  /** Timers that keep it from ending. */
  timers(): Promise<number>;
  /** Where its API listens; empty for other roles and before the first start. */
  url(): string;
  output(): string;
};

/** Runs in the process before anything else: what only the process itself knows, it tells when it is asked. */
const tellTimers = `process.on("SIGUSR2", () => {
  const timers = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  process.stderr.write(\`timers: \${timers}\\n\`);
});`;
const preload = preloading(tellTimers);

export function createStagedProcess(
  surroundings: Surroundings,
  role: string,
  env: Readonly<Record<string, string>>,
): StagedProcess {
  let running: WaybillProcess | null = null;
  let port = "0";
  let url = "";
  const signal = (name: NodeJS.Signals): void => {
    if (running !== null) process.kill(running.pid, name);
  };
  return {
    start: async () => {
      if (running !== null) return;
      running = await spawnWaybill(surroundings, role, { ...env, ...preload, PORT: port });
      if (running.url === "") return;
      // Clients go on asking where it was.
      ({ url } = running);
      ({ port } = new URL(url));
    },
    kill: async () => {
      await running?.kill();
      running = null;
    },
    terminate: async () => {
      const ending = running;
      running = null;
      const code = await ending?.terminate();
      if (ending !== null && code !== 0) throw new Error(`${role} ended with ${code}: ${ending.output()}`);
    },
    suspend: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    openFiles: async () => (await readdir(`/proc/${running?.pid}/fd`).catch(() => [])).length,
    megabytes: async () => {
      const status = await readFile(`/proc/${running?.pid}/status`, "utf8").catch(() => "");
      return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    },
    timers: async () => {
      const answers = (): string[] =>
        [...(running?.output() ?? "").matchAll(/^timers: (\d+)$/gm)].map(([, n = ""]) => n);
      const before = answers().length;
      signal("SIGUSR2");
      return await eventually(() => {
        const answer = answers()[before];
        if (answer === undefined) throw new Error("the process did not say how many timers it has");
        return Number(answer);
      });
    },
    url: () => url,
    output: () => running?.output() ?? "",
  };
}
