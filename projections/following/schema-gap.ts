import type { Knex } from "knex";
import { migrationNames } from "../migrate.ts";
import type { Projector } from "../projector.ts";
import { existing, tableNames } from "../rebuilding/table-set.ts";
import { readCheckpoint } from "./checkpoint.ts";

/** What this release needs and the database lacks, and the command that repairs it. */
export type SchemaGap = {
  /** Names of migrations, and of tables and views of read models. */
  readonly missing: readonly string[];
  /** Read models whose tables are of an older release. */
  readonly outdated: readonly string[];
  readonly command: string;
};

/** The tables are not as this release needs them, and this process may not change them. */
export class SchemaIncomplete extends Error {
  override readonly name = "SchemaIncomplete";

  constructor({ missing, outdated, command }: SchemaGap) {
    const what =
      missing.length > 0 ? `lacks: ${missing.join(", ")}` : `has tables of an older release: ${outdated.join(", ")}`;
    super(`The database ${what}. AUTO_MIGRATE is false, so this process changes nothing. Run: ${command}`);
  }
}

/** Null if there is no gap. Only reads. Tables and migrations of a newer release are no gap. */
export async function findSchemaGap(db: Knex, projectors: readonly Projector[]): Promise<SchemaGap | null> {
  const missing = [...(await missingMigrations(db)), ...(await missingTables(db, projectors))];
  if (missing.length > 0) return { missing, outdated: [], command: "waybill migrate" };
  const outdated: string[] = [];
  for (const { name, version } of projectors) {
    const checkpoint = await readCheckpoint(db, name);
    if (checkpoint !== null && checkpoint.version < version) outdated.push(name);
  }
  return outdated.length === 0 ? null : { missing, outdated, command: `waybill rebuild ${outdated.join(" ")}` };
}

const migrationsTable = "knex_migrations";

async function missingMigrations(db: Knex): Promise<readonly string[]> {
  const names = await migrationNames();
  if ((await existing(db, [migrationsTable])).length === 0) return names;
  const [rows] = (await db.raw("SELECT name FROM ??", [migrationsTable])) as [{ name: string }[]];
  const done = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !done.has(name));
}

async function missingTables(db: Knex, projectors: readonly Projector[]): Promise<readonly string[]> {
  const names = projectors.flatMap((projector) => [...tableNames(projector, ""), ...Object.keys(projector.views)]);
  const found = new Set(await existing(db, names));
  return names.filter((name) => !found.has(name));
}
