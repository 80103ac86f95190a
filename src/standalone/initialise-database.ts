import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CannotStart } from "../process/lifecycle.ts";
import { type DatabaseBinary, findBinary, searchFolders } from "./find-binary.ts";

const run = promisify(execFile);

/**
 * Creates the server's system tables in `dataFolder`, once. Creates them beside it and moves them there when they are
 * complete, so that an interrupted initialisation is repeated and never mistaken for data.
 */
export async function initialiseDatabase(binary: DatabaseBinary, dataFolder: string): Promise<void> {
  if (existsSync(dataFolder)) return;
  const parent = dirname(dataFolder);
  await removeUnfinished(parent);
  const temporary = await clearTemporaryFolder(parent);
  const unfinished = join(parent, `${unfinishedPrefix}${process.pid}`);
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const [program, args] =
    binary.kind === "mariadb"
      ? await toInstallCommand(binary.path, unfinished, temporary)
      : await toMysqlCommand(binary.path, unfinished, temporary);
  try {
    await run(program, args, { timeout: 120_000, cwd: parent, env: { ...process.env, TMPDIR: temporary } });
  } catch (cause) {
    const output = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    throw new CannotStart(`${program} could not set up a database in ${parent}:\n${output}`, { cause });
  }
  await rename(unfinished, dataFolder);
}

/** The folder for temporary files of a server, beside its data: two servers must never share one. */
export const temporaryFolderIn = (folder: string): string => join(folder, "tmp");

/** Creates the folder, empty: files that a killed server left there are of no use to the next one. */
export async function clearTemporaryFolder(folder: string): Promise<string> {
  const temporary = temporaryFolderIn(folder);
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  return temporary;
}

const unfinishedPrefix = "unfinished-";

async function removeUnfinished(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(parent, name), { recursive: true, force: true });
  }
}

/** With the socket method `root` needs no password, has none, and cannot be reached over TCP. */
async function toInstallCommand(
  serverPath: string,
  dataFolder: string,
  temporary: string,
): Promise<[string, string[]]> {
  const folders = [dirname(serverPath), ...searchFolders(), "/usr/bin"];
  const program = await findBinary(["mariadb-install-db", "mysql_install_db"], folders);
  if (program === null) {
    throw new CannotStart(`${serverPath} is there but mariadb-install-db is not; it comes with the same package`);
  }
  const args = [
    "--auth-root-authentication-method=socket",
    "--skip-test-db",
    `--datadir=${dataFolder}`,
    `--tmpdir=${temporary}`,
  ];
  return [program, ["--no-defaults", ...args, ...asRoot()]];
}

async function toMysqlCommand(serverPath: string, dataFolder: string, temporary: string): Promise<[string, string[]]> {
  const args = ["--initialize-insecure", `--datadir=${dataFolder}`, `--tmpdir=${temporary}`, ...asRoot()];
  return [serverPath, [...(await withoutDefaults(serverPath)), ...args]];
}

/**
 * The settings of the machine's own database must not apply to ours. MySQL refuses to start if the option occurs twice,
 * and a start script in front of the server may already pass it.
 */
export async function withoutDefaults(serverPath: string): Promise<string[]> {
  const beginning = (await readFile(serverPath)).subarray(0, 4096).toString("latin1");
  const isScript = beginning.startsWith("#!");
  return isScript && /--(no-defaults|defaults-file)\b/.test(beginning) ? [] : ["--no-defaults"];
}

/** Database servers refuse to run as root unless an option allows it. */
export const asRoot = (): string[] => (process.getuid?.() === 0 ? ["--user=root"] : []);
