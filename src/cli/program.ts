import { Command } from "commander";
import { readVersion } from "../settings/release.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";

type Add = (program: Command, context: CommandContext) => void;

const loadSeals = async (): Promise<Add> => (await import("./seals.ts")).addSealCommands;

/** Commands load on demand: the modules of `start` take a second to load, and `send` needs none of them. */
const commands: Readonly<Record<string, () => Promise<Add>>> = {
  start: async () => (await import("./start.ts")).addStartCommand,
  migrate: async () => (await import("./migrate.ts")).addMigrateCommand,
  rebuild: async () => (await import("./rebuild.ts")).addRebuildCommand,
  send: async () => (await import("./send.ts")).addSendCommand,
  jobs: async () => (await import("./jobs.ts")).addJobsCommands,
  mailings: async () => (await import("./mailings.ts")).addMailingsCommands,
  templates: async () => (await import("./templates.ts")).addTemplateCommands,
  schedules: async () => (await import("./schedules.ts")).addScheduleCommands,
  events: async () => (await import("./events.ts")).addEventsCommand,
  replay: async () => (await import("./replay.ts")).addReplayCommand,
  verify: async () => (await import("./verify.ts")).addVerifyCommand,
  archive: async () => (await import("./archive.ts")).addArchiveCommand,
  doctor: async () => (await import("./doctor.ts")).addDoctorCommand,
  keys: async () => (await import("./keys.ts")).addKeyCommands,
  tenants: async () => (await import("./tenants.ts")).addTenantCommands,
  webhooks: async () => (await import("./webhooks.ts")).addWebhookCommands,
  seals: loadSeals,
  log: loadSeals,
};

/** The function that adds the command named first in the arguments; all of these functions if no command is named. */
function addersFor(args: readonly string[]): Promise<readonly Add[]> {
  const [first = ""] = args;
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  const loaders = load === undefined ? new Set(Object.values(commands)) : [load];
  return Promise.all([...loaders].map((one) => one()));
}

/**
 * The program with the command that the arguments name, or with all commands if they name none. Where commander would
 * end the process, the program throws CommanderError instead, for help as well as for wrong usage.
 */
export async function createProgram(context: CommandContext, args: readonly string[]): Promise<Command> {
  const program = new Command("waybill")
    .description("Bulk e-mail jobs over HTTP, with a history that can be replayed. Settings come from the environment.")
    .version(readVersion(), "-V, --version", "the version of this release")
    .exitOverride()
    .showHelpAfterError("(add --help to a command for its options)")
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, "")),
      writeErr: (text) => context.tell(text.replace(/\n$/, "")),
    });
  for (const add of await addersFor(args)) add(program, context);
  return explain(program, {
    notes: 'A mailing from beginning to end ("waybill <command> --help" explains each command):',
    examples: [
      "waybill start                                      the whole service on this machine",
      'waybill send --subject "Hello {{ name }}" --html news.html --csv readers.csv --dry-run',
      'waybill send --subject "Hello {{ name }}" --html news.html --csv readers.csv',
      "waybill mailings watch <id>                        follow its progress until it has ended",
      "waybill mailings recipients <id> --status failed   recipients not reached, with the reasons",
      "waybill mailings retry <id>                        retry the mailing for only those",
      "waybill mailings evidence <id> > mailing.ndjson    the history, as a file for an auditor",
      "waybill verify mailing.ndjson                      check that nothing in it was altered",
    ],
    asks: "service",
  });
}
