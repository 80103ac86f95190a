import type { Command } from "commander";
import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import { onReadModels } from "./on-servers.ts";

/** `migrate`. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("migrate")
    .description("migrate the database, as the service does when it starts")
    .option("--json", "as JSON")
    .action((options: { json?: boolean }) => migrateDatabase(context, options));
  explain(command, {
    examples: ["waybill migrate", "MYSQL_URL=mysql://waybill@db/waybill NATS_URL=nats://log waybill migrate"],
    asks: "servers",
  });
}

async function migrateDatabase(context: CommandContext, { json }: { readonly json?: boolean }): Promise<void> {
  await onReadModels(context, ({ db }) => migrate(db, allProjectors));
  context.print(json ? JSON.stringify({ migrated: true }) : "The database is up to date.");
}
