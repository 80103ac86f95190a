import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ClusterStage } from "./stage.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));

/** What `waybill verify` finds wrong with the log; nothing where all seals hold. */
export async function verifyLog({ env }: ClusterStage): Promise<readonly string[]> {
  try {
    await run(process.execPath, [main, "verify"], { env: { PATH: process.env["PATH"], ...env } });
    return [];
  } catch (failure) {
    const { stdout = "", stderr = "" } = failure as { readonly stdout?: string; readonly stderr?: string };
    return [`waybill verify: ${stdout}${stderr}${stdout + stderr === "" ? String(failure) : ""}`];
  }
}
