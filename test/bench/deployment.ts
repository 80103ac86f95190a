import { randomBytes } from "node:crypto";
import process from "node:process";
import type { Lifecycle } from "../../src/process/lifecycle.ts";
import { roles } from "../../src/settings/config.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";
import type { Ground } from "./ground.ts";
import type { Pids } from "./process-usage.ts";
import type { Stage } from "./row.ts";

/** A Waybill in processes of its own, with its own log and database. */
export type Deployment = {
  readonly surroundings: Surroundings;
  /** Of the process with the API. */
  readonly url: string;
  readonly port: number;
  /** Waybill's processes and the servers that work for it. The sink and the load belong to the benchmark. */
  readonly pids: Pids;
};

/** Each role by itself, as `compose.yaml` has it. */
export const separateProcesses: readonly string[] = ["projector", "worker", "scheduler", "webhooks", "outbox", "api"];
/** The same with so many workers. */
export const separateProcessesWith = (workers: number): readonly string[] => [
  ...separateProcesses,
  ...Array.from({ length: workers - 1 }, () => "worker"),
];
export const oneProcess: readonly string[] = [roles.join(",")];

export type Settings = Readonly<Record<string, string>>;

/** What processes of one service share. Nothing listens at the address of the mail server if none is given. */
export const surroundingsOn = async (ground: Ground, smtpUrl = "smtp://127.0.0.1:9"): Promise<Surroundings> => ({
  nats: { config: ground.nats.config, prefix: `bench${randomBytes(4).toString("hex")}` },
  mysqlUrl: await ground.freshDatabase(),
  smtpUrl,
});

/**
 * Starts one process for each entry, a role or several with commas; the first one is ready before the others start. All have
 * these settings besides the defaults.
 */
export async function deploy(
  { ground, lifecycle }: Stage,
  surroundings: Surroundings,
  processes: readonly string[],
  settings: Settings = {},
): Promise<Deployment> {
  const pids = new Map<string, number>();
  let url = "";
  const start = async (roles: string, index: number): Promise<void> => {
    const started = await startProcess(lifecycle, surroundings, roles, settings);
    pids.set(nameOf(processes, index), started.pid);
    if (started.url !== "") ({ url } = started);
  };
  const [first = "", ...others] = processes;
  // It makes the tables, which the others expect.
  await start(first, 0);
  await Promise.all(others.map((roles, index) => start(roles, index + 1)));
  pids.set("nats", ground.nats.pid).set("database", ground.database.pid);
  return { surroundings, url, port: Number(new URL(url).port), pids };
}

/** A process as operators start it, with its log on a pipe. */
export async function startProcess(
  lifecycle: Lifecycle,
  surroundings: Surroundings,
  roles: string,
  settings: Settings = {},
): Promise<WaybillProcess> {
  let starting: Promise<WaybillProcess | null> = Promise.resolve(null);
  // Registered first, so that a run that is given up meanwhile waits for the process, and ends it.
  lifecycle.started(roles, async () => {
    const running = await starting.catch(() => null);
    await running?.kill();
    reportComplaints(roles, running?.output() ?? "");
  });
  const spawning = spawnWaybill(surroundings, roles, { LOG_LEVEL: "info", ...settings });
  starting = spawning;
  return await spawning;
}

/** Default settings have no key, of which each process warns once. */
const byDefault = "SECRETS_KEY is not set";

/** A process that logs warnings during a normal run has a reason, so the figures of that run are not to be trusted. */
function reportComplaints(roles: string, output: string): void {
  const lines = output
    .split("\n")
    .filter((line) => /^\{"level":(?:[456]0|"(?:warn|error|fatal)")/.test(line) && !line.includes(byDefault));
  if (lines.length > 0) process.stderr.write(`    ${roles} logged ${lines.length} warnings: ${lines[0]}\n`);
}

/** `worker`, and `worker 2` for another one; a process that plays many roles is called for what it is. */
function nameOf(processes: readonly string[], index: number): string {
  const roles = processes[index] ?? "";
  const name = roles.includes(",") ? "all roles" : roles;
  const before = processes.slice(0, index).filter((other) => other === roles).length;
  return before === 0 ? name : `${name} ${before + 1}`;
}
