import { readFile, statfs } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "nats";
import type { NatsConfig } from "../../src/settings/config.ts";

const lookEveryMs = 5000;
const silentForMs = 60_000;
const lastLines = 400;

export type WatchedServer = { readonly pid: number; readonly logFile: string; readonly folder: string };

/**
 * Ends the run as failed, and says why, when JetStream on the shared NATS server has given no answer for a minute: every
 * further test would wait for its own time to be up, and none of them would say what had happened. Returns how to stop it.
 */
export async function watchSharedNats(
  { servers, user, password }: NatsConfig,
  server: WatchedServer,
): Promise<() => Promise<void>> {
  const connection = await connect({
    servers: [...servers],
    user: user ?? "",
    pass: password ?? "",
    maxReconnectAttempts: -1,
    reconnectTimeWait: 1000,
  });
  let answeredAt = performance.now();
  const look = async (): Promise<void> => {
    const answer = await connection.request("$JS.API.INFO", "", { timeout: lookEveryMs });
    const { error }: { readonly error?: { readonly description: string } } = answer.json();
    if (error !== undefined) throw new Error(error.description);
    answeredAt = performance.now();
  };
  const looking = setInterval(() => {
    look().catch(async (failure: unknown) => {
      if (performance.now() - answeredAt < silentForMs) return;
      clearInterval(looking);
      await giveUp(server, failure);
    });
  }, lookEveryMs);
  return async () => {
    clearInterval(looking);
    await connection.close();
  };
}

/** Go programs write what each of their threads does, and end, when they get SIGQUIT. */
async function giveUp({ pid, logFile, folder }: WatchedServer, failure: unknown): Promise<never> {
  const { bavail, bsize } = await statfs(folder);
  const isAlive = endWithTrace(pid);
  await pause(2000);
  const lines = (await readFile(logFile, "utf8").catch(() => "")).split("\n").slice(-lastLines);
  process.stderr.write(`${lines.join("\n")}\n`);
  process.stderr.write(
    `The shared NATS server has not answered for a minute: ${String(failure)}. Its process ${isAlive ? "was alive" : "had ended"}, ` +
      `${Math.round((bavail * bsize) / 2 ** 20)} MB were free on the disk, and its log ends as above.\n`,
  );
  process.exit(1);
}

function endWithTrace(pid: number): boolean {
  try {
    process.kill(pid, "SIGQUIT");
    return true;
  } catch {
    return false;
  }
}
