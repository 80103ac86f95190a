import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { CannotStart } from "../process/lifecycle.ts";

const run = promisify(execFile);

/** Servers live in folders that only root has in its PATH, that no daemon has on a Mac, or that no PATH has: MariaDB on Fedora. */
const usualFolders = [
  "/usr/sbin",
  "/usr/libexec",
  "/usr/local/sbin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
  "/opt/homebrew/sbin",
];

export type DatabaseBinary = { readonly path: string; readonly kind: "mariadb" | "mysql" };

/** The folders of PATH in order, then the usual folders. To use other servers, put their folder first in PATH. */
export const searchFolders = (path: string = process.env["PATH"] ?? ""): readonly string[] => [
  ...path.split(delimiter).filter(isAbsolute),
  ...usualFolders,
];

/** The path of the first program found, or null. Searches folder by folder, and in each folder name by name. */
export async function findBinary(
  names: readonly string[],
  folders: readonly string[] = searchFolders(),
): Promise<string | null> {
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    if (await isExecutable(path)) return path;
  }
  return null;
}

export const findNatsBinary = (folders?: readonly string[]): Promise<string | null> =>
  findBinary(["nats-server"], folders);

/** `mysqld` is MySQL's server, and on many systems an old name of MariaDB's: its version output distinguishes them. */
export async function findDatabaseBinary(folders?: readonly string[]): Promise<DatabaseBinary | null> {
  const path = await findBinary(["mariadbd", "mysqld"], folders);
  if (path === null) return null;
  return { path, kind: /mariadb/i.test(await versionOf(path)) ? "mariadb" : "mysql" };
}

/** The version output of a server, `nats-server: v2.15.1`; throws CannotStart if the binary does not run. */
export async function versionOf(binary: string): Promise<string> {
  try {
    const { stdout } = await run(binary, ["--version"], { timeout: 10_000 });
    return stdout.trim();
  } catch (cause) {
    throw new CannotStart(`${binary} --version failed; expected a program that runs on this machine`, { cause });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
