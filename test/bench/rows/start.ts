import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import process from "node:process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { coldAndWarm } from "../cold-and-warm.ts";
import { figureOf, type Measurement } from "../row.ts";

const project = fileURLToPath(new URL("../../..", import.meta.url));

/** Built, with servers of its own, as a user has them; warm: with the data of an earlier start. */
export const start: Measurement = {
  name: "npm start to ready",
  timeoutMs: 180_000,
  measure: ({ rounds: count, onFreshServers }) =>
    onFreshServers(async ({ lifecycle }) => {
      const dataDir = await temporaryFolder();
      lifecycle.started("the data folder", () => rm(dataDir, { recursive: true, force: true }));
      const rounds = await coldAndWarm(
        count,
        () => startOnce(lifecycle, dataDir),
        async () => {},
      );
      return {
        figures: [figureOf(rounds, "s", (seconds) => seconds, { warm: { atMost: 3 } })],
        notes: ["cold: the first start, which makes the database; npm and its look whether to build are counted"],
        rounds,
      };
    }),
};

/** Seconds until it says that it is ready; then it is told to stop. */
async function startOnce(lifecycle: Lifecycle, dataDir: string): Promise<number> {
  const { PATH, HOME } = process.env;
  const startedAt = performance.now();
  // A process group of its own: npm does not hand every signal on to what it runs.
  const child = spawn("npm", ["start"], {
    cwd: project,
    detached: true,
    env: { PATH, HOME, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGTERM");
    await exited;
    // npm may be gone before what it ran, and the data are in use until then.
    await eventually(() => mustBeGone(child.pid ?? 0), 15_000);
  };
  lifecycle.started("npm start", stop);
  await Promise.race([untilReady(child.stdout), exited.then(() => Promise.reject(new Error("npm start ended")))]);
  const seconds = (performance.now() - startedAt) / 1000;
  await stop();
  return seconds;
}

/** It goes on reading afterwards: a program that cannot print is not what is measured. */
function untilReady(stdout: Readable): Promise<void> {
  let output = "";
  return new Promise((resolve) => {
    stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("waybill is ready")) resolve();
    });
  });
}

function mustBeGone(group: number): void {
  try {
    process.kill(-group, 0);
  } catch {
    return;
  }
  throw new Error("npm start has not ended");
}
