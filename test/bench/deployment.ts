import { randomBytes } from "node:crypto";
import type { Lifecycle } from "../../src/lifecycle.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";
import type { Ground } from "./ground.ts";
import type { Pids } from "./process-usage.ts";

/** A Waybill in processes of its own, with its own log and database. */
export type Deployment = {
  readonly surroundings: Surroundings;
  readonly prefix: string;
  readonly mysqlUrl: string;
  /** Of the process with the API. */
  readonly url: string;
  readonly port: number;
  readonly pids: Pids;
};

/** Each role by itself. */
export const separateProcesses = ["projector", "worker", "scheduler", "api"] as const;

/** Starts one process for each entry, a role or several with commas; the first one is ready before the others start. */
export async function deploy(
  ground: Ground,
  lifecycle: Lifecycle,
  smtpUrl: string,
  processes: readonly string[],
): Promise<Deployment> {
  const prefix = `bench${randomBytes(4).toString("hex")}`;
  const mysqlUrl = await ground.freshDatabase();
  const surroundings = { nats: { config: ground.nats.config, prefix }, mysqlUrl, smtpUrl };
  const pids = new Map<string, number>();
  let url = "";
  const start = async (roles: string, index: number): Promise<void> => {
    let starting: Promise<WaybillProcess | null> = Promise.resolve(null);
    // Before it is started, so that a run that is given up meanwhile waits for it, and ends it.
    lifecycle.started(roles, async () => {
      const running = await starting.catch(() => null);
      await running?.kill();
      tellComplaints(roles, running?.output() ?? "");
    });
    const spawning = spawnWaybill(surroundings, roles, { LOG_LEVEL: "warn" });
    starting = spawning;
    const started = await spawning;
    pids.set(nameOf(processes, index), started.pid);
    if (started.url !== "") ({ url } = started);
  };
  const [first = "", ...others] = processes;
  // It makes the tables, which the others expect.
  await start(first, 0);
  await Promise.all(others.map((roles, index) => start(roles, index + 1)));
  return { surroundings, prefix, mysqlUrl, url, port: Number(new URL(url).port), pids };
}

/** A process that logs warnings during a normal run has a reason, so the figures of that run are not to be trusted. */
function tellComplaints(roles: string, output: string): void {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  if (lines.length > 0) process.stderr.write(`    ${roles} logged ${lines.length} warnings: ${lines[0]}\n`);
}

/** `worker`, and `worker 2` for another one; a process that plays many roles is called for what it is. */
function nameOf(processes: readonly string[], index: number): string {
  const roles = processes[index] ?? "";
  const name = roles.includes(",") ? "all roles" : roles;
  const before = processes.slice(0, index).filter((other) => other === roles).length;
  return before === 0 ? name : `${name} ${before + 1}`;
}

/** Waybill's processes and the servers that work for it. The sink and the load belong to the benchmark. */
export const withServers = (ground: Ground, { pids }: Deployment): Pids =>
  new Map([...pids, ["nats", ground.nats.pid], ["database", ground.database.pid]]);
