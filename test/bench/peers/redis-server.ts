import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { findBinary, versionOf } from "../../../src/standalone/find-binary.ts";
import { eventually } from "../../support/eventually.ts";
import { findFreePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export type RedisServer = { readonly port: number; readonly pid: number };

/** The defaults of Redis, which Debian's redis.conf leaves as they are. */
const persistence = "appendonly no, save 3600 1 300 100 60 10000";

export const findRedis = (): Promise<string | null> => findBinary(["redis-server"]);

export async function describeRedis(): Promise<string> {
  const binary = await findRedis();
  return binary === null ? "not installed, so BullMQ is not measured" : `${await versionOf(binary)}; ${persistence}`;
}

export async function startRedis(binary: string, lifecycle: Lifecycle): Promise<RedisServer> {
  const [port, folder] = [await findFreePort(), await temporaryFolder()];
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--daemonize", "no"];
  const child = spawn(binary, [...args, ...persistenceArguments], { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  lifecycle.started("redis-server", async () => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  });
  await eventually(async () => {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
    } finally {
      socket.destroy();
    }
  });
  return { port, pid: child.pid ?? 0 };
}

const persistenceArguments = ["--appendonly", "no", "--save", "3600 1 300 100 60 10000"];
