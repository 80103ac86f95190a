import { Command } from "commander";
import { readVersion } from "../release.ts";
import type { CommandContext } from "./command-context.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addEventsCommand } from "./events.ts";
import { explain } from "./explain.ts";
import { addJobsCommands } from "./jobs.ts";
import { addKeyCommands } from "./keys.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addRebuildCommand } from "./rebuild.ts";
import { addReplayCommand } from "./replay.ts";
import { addSealCommands } from "./seals.ts";
import { addSendCommand } from "./send.ts";
import { addStartCommand } from "./start.ts";
import { addTenantCommands } from "./tenants.ts";
import { addVerifyCommand } from "./verify.ts";
import { addWebhookCommands } from "./webhooks.ts";

const addCommands: readonly ((program: Command, context: CommandContext) => void)[] = [
  addStartCommand,
  addMigrateCommand,
  addRebuildCommand,
  addSendCommand,
  addJobsCommands,
  addEventsCommand,
  addReplayCommand,
  addVerifyCommand,
  addDoctorCommand,
  addKeyCommands,
  addTenantCommands,
  addWebhookCommands,
  addSealCommands,
];

/** All commands. It throws where the process would end: CommanderError for help as well as for wrong usage. */
export function createProgram(context: CommandContext): Command {
  const program = new Command("waybill")
    .description("Bulk e-mail jobs over HTTP, with a history that can be replayed. Settings come from the environment.")
    .version(readVersion(), "-V, --version", "the version of this release")
    .exitOverride()
    .showHelpAfterError("(--help behind a command tells what it takes)")
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, "")),
      writeErr: (text) => context.tell(text.replace(/\n$/, "")),
    });
  for (const add of addCommands) add(program, context);
  return explain(program, {
    notes: 'A mailing from beginning to end ("waybill <command> --help" tells more of each):',
    examples: [
      "waybill start                                    the whole service on this machine",
      'waybill send --subject "Hello {{ name }}" --html news.html --csv readers.csv --dry-run',
      'waybill send --subject "Hello {{ name }}" --html news.html --csv readers.csv',
      "waybill jobs watch <id>                          how far it is, until it has ended",
      "waybill jobs logs <id> --status failed           who was not reached, and why",
      "waybill jobs retry <id>                          a failed job again, for those alone",
      "waybill jobs evidence <id> > job.ndjson          what happened, as a file for others",
      "waybill verify job.ndjson                        nothing in it was altered",
    ],
    asks: "service",
  });
}
