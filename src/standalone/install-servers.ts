import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { CannotStart } from "../process/lifecycle.ts";
import { findBinary } from "./find-binary.ts";

const run = promisify(execFile);

export type ServerKind = "nats" | "database";
export type Print = (line: string) => void;

/** Whether `installServers` may run: only as root on Debian or Ubuntu, which means a container or a CI machine. */
export async function canInstall(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release) && (await findBinary(["apt-get"])) !== null;
}

/** Installs the distribution's packages without starting a system service; throws CannotStart if that fails. */
export async function installServers(missing: readonly ServerKind[], print: Print): Promise<void> {
  print(
    `Not on this machine: ${missing.map(nameOf).join(" and ")}; installing with apt-get (WAYBILL_INSTALL=no forbids it)`,
  );
  await aptGet("update");
  if (missing.includes("nats")) await withoutService("nats-server", () => install("nats-server"));
  if (missing.includes("database")) await installDatabase();
}

/** The command that installs the missing servers, for each system. */
export function howToInstall(missing: readonly ServerKind[]): string {
  const list = (nats: string, database: string): string =>
    missing.map((kind) => (kind === "nats" ? nats : database)).join(" ");
  return [
    `Not on this machine: ${missing.map(nameOf).join(" and ")}. Install with`,
    `  Debian, Ubuntu   sudo apt-get install -y ${list("nats-server", "mariadb-server")}`,
    `  Fedora           sudo dnf install -y ${list("nats-server", "mariadb-server")}`,
    `  macOS            brew install ${list("nats-server", "mariadb")}`,
    "or start everything in containers with",
    "  docker compose up",
    `or set ${missing.map((kind) => (kind === "nats" ? "NATS_URL" : "MYSQL_URL")).join(" and ")} to a server that runs already.`,
  ].join("\n");
}

const nameOf = (kind: ServerKind): string => (kind === "nats" ? "nats-server" : "mariadbd or mysqld");

/** The core packages contain the server without a system service. Older releases have only the package with both. */
async function installDatabase(): Promise<void> {
  try {
    await install("mariadb-server-core", "mariadb-client-core");
  } catch {
    await withoutService("mariadb", () => install("mariadb-server"));
  }
}

const install = (...packages: readonly string[]): Promise<void> =>
  aptGet("install", "-y", "--no-install-recommends", ...packages);

/** With systemd, a package starts its service at once, on a port and with data that this installation must not use. */
async function withoutService(service: string, installing: () => Promise<void>): Promise<void> {
  if (!existsSync("/run/systemd/system")) return installing();
  await run("systemctl", ["--runtime", "mask", service]);
  try {
    await installing();
  } finally {
    await run("systemctl", ["--runtime", "unmask", service]);
  }
  await run("systemctl", ["disable", service]);
}

/** A machine that has just started often installs updates, and only one program at a time may install. */
export const aptGetWaits = ["-o", "DPkg::Lock::Timeout=300"];

async function aptGet(...args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    await run("apt-get", [...aptGetWaits, ...args], { env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 });
  } catch (cause) {
    const output = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    throw new CannotStart(`apt-get ${args.join(" ")} failed:\n${output}`, { cause });
  }
}
