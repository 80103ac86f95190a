import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { startService } from "../../src/roles/wiring.ts";
import { type CompleteConfig, readConfig } from "../../src/settings/config.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { eventually } from "./eventually.ts";
import { nodeFlags } from "./node-flags.ts";
import type { TestNats } from "./services.ts";

export type Surroundings = {
  readonly nats: Pick<TestNats, "config" | "prefix">;
  readonly mysqlUrl: string;
  readonly smtpUrl: string;
};

type Env = Readonly<Record<string, string>>;

/** The settings of a service that works on a test's own servers. */
export function settingsFor({ nats, mysqlUrl, smtpUrl }: Surroundings): Env {
  const { servers, user, password } = nats.config;
  return {
    NATS_URL: servers.join(","),
    ...(user === null ? {} : { NATS_USER: user }),
    ...(password === null ? {} : { NATS_PASSWORD: password }),
    NATS_PREFIX: nats.prefix,
    MYSQL_URL: mysqlUrl,
    SMTP_URL: smtpUrl,
    MAIL_FROM: "Waybill <waybill@example.org>",
    PORT: "0",
    LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "silent",
  };
}

export type Waybill = { readonly url: string; readonly healthUrl: string; stop(): Promise<void> };

/** The whole service in the test's own process. */
export async function startWaybill(surroundings: Surroundings, env: Env = {}): Promise<Waybill> {
  const config = readConfig({ ...settingsFor(surroundings), ...env }) as CompleteConfig;
  const { url, healthUrl, stop } = await startService(config, pino({ level: config.logLevel }), null);
  return { url: url ?? "", healthUrl: healthUrl ?? "", stop };
}

export type WaybillProcess = {
  readonly pid: number;
  /** Where its API listens; empty in a process without that role. */
  readonly url: string;
  /** SIGKILL: no chance to say goodbye. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** Whether the process is gone, by itself or ended from outside. */
  hasEnded(): boolean;
  /** Waits until it ends by itself; null where a signal ended it. */
  exitCode(): Promise<number | null>;
  /** What it has printed so far. */
  output(): string;
  /** Whether it has said that it is ready. */
  isReady(): boolean;
};

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

/** A process needs two seconds of CPU to start, and a fault matrix starts many at a time on few cores. */
const startMs = 60_000;

/** One line, which may come in pieces. */
const saysThatItIsReady = /"msg":"waybill is ready"\}\n/;

/** A process that was told to start, and may not have come far with it. */
export type LaunchedWaybill = Omit<WaybillProcess, "url">;

/** The built program in a process of its own, as `waybill start --roles …` runs it; nothing is waited for. */
export function launchWaybill(surroundings: Surroundings, roles: string, env: Env = {}): LaunchedWaybill {
  const child = spawn(process.execPath, [...nodeFlags, main, "start", "--roles", roles], {
    env: { PATH: process.env["PATH"], ...settingsFor(surroundings), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  // Whatever it printed has arrived by then.
  const exited = once(child, "close").then(([code]) => code as number | null);
  const kill = (): Promise<void> => end(child, "SIGKILL", exited).then(() => {});
  // A test that fails may leave it running.
  atEndOfRun(kill);
  return {
    pid: child.pid as number,
    kill,
    terminate: () => end(child, "SIGTERM", exited),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    exitCode: () => exited,
    output: () => output,
    isReady: () => saysThatItIsReady.test(output),
  };
}

/** The same, once it says that it is ready. */
export async function spawnWaybill(surroundings: Surroundings, roles: string, env: Env = {}): Promise<WaybillProcess> {
  const launched = launchWaybill(surroundings, roles, env);
  const { output, hasEnded, isReady, kill } = launched;
  const ready = (): void => {
    if (hasEnded()) throw new Error(`waybill has ended: ${output()}`);
    if (!isReady()) throw new Error(`waybill is not ready: ${output()}`);
  };
  await eventually(ready, startMs).catch(async (failure: unknown) => {
    // No other code could end the process.
    await kill();
    throw failure;
  });
  return { ...launched, url: /"api":"(\S+?)\/api\/jobs"/.exec(output())?.[1] ?? "" };
}

async function end(
  child: ChildProcess,
  signal: NodeJS.Signals,
  exited: Promise<number | null>,
): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  return await exited;
}
