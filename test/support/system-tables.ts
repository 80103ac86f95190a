import { constants, existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseBinary } from "../../src/standalone/find-binary.ts";
import { initialiseDatabase } from "../../src/standalone/initialise-database.ts";

/**
 * Sets up the system tables of a database server once for a whole run, in the folder: a server needs seconds of CPU for
 * that, a copy a moment. Tests of the setting up itself do not use them.
 */
export async function shareSystemTables(binary: DatabaseBinary, folder: string): Promise<void> {
  const shared = join(folder, "system-tables");
  await mkdir(shared, { mode: 0o700 });
  await initialiseDatabase(binary, join(shared, "data"));
  process.env["TEST_SYSTEM_TABLES"] = join(shared, "data");
}

/** Where the run has some, and the folder has none yet. */
export async function copySystemTables(folder: string): Promise<void> {
  const shared = process.env["TEST_SYSTEM_TABLES"];
  const data = join(folder, "data");
  if (shared === undefined || existsSync(data)) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await cp(shared, data, { recursive: true, mode: constants.COPYFILE_FICLONE });
}
