import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ClusterStage } from "./stage.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));

/** What `waybill verify` finds wrong with the log, and what it finds the second time; nothing where all seals hold. */
export async function verifyLog({ env }: Pick<ClusterStage, "env">): Promise<readonly string[]> {
  const first = await verify(env);
  return first === null ? [] : [`waybill verify: ${first}`, `once more: ${(await verify(env)) ?? "all seals hold"}`];
}

async function verify(env: ClusterStage["env"]): Promise<string | null> {
  try {
    await run(process.execPath, [main, "verify"], { env: { PATH: process.env["PATH"], ...env } });
    return null;
  } catch (failure) {
    const { stdout = "", stderr = "" } = failure as { readonly stdout?: string; readonly stderr?: string };
    return `${stdout}${stderr}${stdout + stderr === "" ? String(failure) : ""}`;
  }
}
