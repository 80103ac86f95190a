import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** One role of the service in a process that faults happen to. */
export type StagedProcess = {
  /** Does nothing where it runs already. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM; throws where it does not end with 0. */
  terminate(): Promise<void>;
  /** SIGSTOP: to everybody else it looks as if it went on. */
  suspend(): void;
  resume(): void;
  /** Where its API listens; empty for other roles and before the first start. */
  url(): string;
  output(): string;
};

export function createStagedProcess(
  surroundings: Surroundings,
  role: string,
  env: Readonly<Record<string, string>>,
): StagedProcess {
  let process_: WaybillProcess | null = null;
  let port = "0";
  let url = "";
  const signal = (name: NodeJS.Signals): void => {
    if (process_ !== null) process.kill(process_.pid, name);
  };
  return {
    start: async () => {
      if (process_ !== null) return;
      process_ = await spawnWaybill(surroundings, role, { ...env, PORT: port });
      if (process_.url === "") return;
      // Clients go on asking where it was.
      ({ url } = process_);
      ({ port } = new URL(url));
    },
    kill: async () => {
      await process_?.kill();
      process_ = null;
    },
    terminate: async () => {
      const ending = process_;
      process_ = null;
      const code = await ending?.terminate();
      if (ending !== null && code !== 0) throw new Error(`${role} ended with ${code}: ${ending.output()}`);
    },
    suspend: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    url: () => url,
    output: () => process_?.output() ?? "",
  };
}
