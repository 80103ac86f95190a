import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { CannotStart } from "../lifecycle.ts";

const run = promisify(execFile);

/** Servers live in folders that are in root's PATH only, or, on a Mac, in no daemon's. */
const usualFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/homebrew/sbin"];

export type DatabaseBinary = { readonly path: string; readonly kind: "mariadb" | "mysql" };

/** PATH in its order, then the usual folders: whoever wants other servers puts their folder first in PATH. */
export const searchFolders = (path: string = process.env["PATH"] ?? ""): readonly string[] => [
  ...path.split(delimiter).filter(isAbsolute),
  ...usualFolders,
];

/** The path of a program, or null: the folders in their order, in each of them the names in their order. */
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

/** `mysqld` is MySQL's server, and on many systems an old name of MariaDB's: its version tells. */
export async function findDatabaseBinary(folders?: readonly string[]): Promise<DatabaseBinary | null> {
  const path = await findBinary(["mariadbd", "mysqld"], folders);
  if (path === null) return null;
  return { path, kind: /mariadb/i.test(await versionOf(path)) ? "mariadb" : "mysql" };
}

/** What a server says of its version, `nats-server: v2.15.1`; throws CannotStart where the binary does not run. */
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
