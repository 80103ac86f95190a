import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `startedAt` distinguishes a process from a later one with the same id. Its format depends on the system. */
export type ProcessIdentity = { readonly startedAt: string; readonly command: string };

/** The process with this id, or null if there is none. A zombie does not count as a process. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  try {
    return existsSync("/proc/self/stat") ? await identifyByProc(pid) : await identifyByPs(pid);
  } catch {
    return null;
  }
}

async function identifyByProc(pid: number): Promise<ProcessIdentity | null> {
  const [status, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/cmdline`, "utf8"),
  ]);
  // The second field is the program's name in brackets and may contain spaces and brackets itself (proc(5)).
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === "Z" || state === "X" || startTicks === undefined) return null;
  return { startedAt: startTicks, command: command.replaceAll("\0", " ").trim() };
}

async function identifyByPs(pid: number): Promise<ProcessIdentity | null> {
  const { stdout } = await run("ps", ["-o", "state=,lstart=,command=", "-p", String(pid)], { env: { LC_ALL: "C" } });
  const [, state = "Z", startedAt = "", command = ""] = /^(\S+)\s+((?:\S+\s+){5})(.*)$/s.exec(stdout.trim()) ?? [];
  return state.startsWith("Z") ? null : { startedAt: startedAt.trim(), command };
}
