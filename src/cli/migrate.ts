import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import type { CommandContext } from "./command-context.ts";
import { onReadModels } from "./on-read-models.ts";

export async function migrateDatabase(context: CommandContext): Promise<void> {
  await onReadModels(context, ({ db }) => migrate(db, allProjectors));
  context.print("The database is up to date.");
}
