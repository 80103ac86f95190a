import { Command } from "commander";
import { readVersion } from "../settings/release.ts";
import type { CommandContext, ProcessContext, ServiceOptions } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { asksOf, explain } from "./explain.ts";

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
  "dead-letters": async () => (await import("./dead-letters.ts")).addDeadLetterCommands,
  suppressions: async () => (await import("./suppressions.ts")).addSuppressionCommands,
  stats: async () => (await import("./stats.ts")).addStatsCommand,
  throttles: async () => (await import("./throttles.ts")).addThrottleCommands,
  webhooks: async () => (await import("./webhooks.ts")).addWebhookCommands,
  routes: async () => (await import("./routes.ts")).addRouteCommands,
  secrets: async () => (await import("./secrets.ts")).addSecretsCommands,
  seals: loadSeals,
  log: loadSeals,
  profiles: async () => (await import("./profiles.ts")).addProfileCommands,
  completion: async () => (await import("./completion.ts")).addCompletionCommand,
};

/** The function that adds the command named first in the arguments; all of these functions if no command is named. */
function addersFor(args: readonly string[]): Promise<readonly Add[]> {
  const [first = ""] = args;
  // The completion describes all commands.
  const isAlone = first !== "completion" && Object.hasOwn(commands, first);
  const load = isAlone ? commands[first] : undefined;
  const loaders = load === undefined ? new Set(Object.values(commands)) : [load];
  return Promise.all([...loaders].map((one) => one()));
}

/**
 * The program with the command that the arguments name, or with all commands if they name none. Where commander would
 * end the process, the program throws CommanderError instead, for help as well as for wrong usage.
 */
export async function createProgram(given: ProcessContext, args: readonly string[]): Promise<Command> {
  const context: CommandContext = { ...given, serviceOptions: () => program.opts<ServiceOptions>() };
  const program = new Command("waybill")
    .description("Bulk e-mail jobs over HTTP, with a history that can be replayed. Settings come from the environment.")
    .version(readVersion(), "-V, --version", "the version of this release")
    .option("--url <url>", "the URL of the service that a command asks, in place of WAYBILL_URL")
    .option("--key <key>", "the API key for it, in place of WAYBILL_KEY")
    .option("--profile <name>", "a profile that holds both: see profiles set")
    .hook("preAction", (_, command) => refuseForServers(command, context.serviceOptions()))
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("(add --help to a command for its options)")
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, "")),
      writeErr: (text) => context.tell(text.replace(/\n$/, "")),
    });
  for (const add of await addersFor(args)) add(program, context);
  return explain(program, {
    notes: `The exit code is 130 after Ctrl-C and 143 after SIGTERM; waybill start then ends with 0. NO_COLOR switches colours off.

A mailing from beginning to end ("waybill <command> --help" explains each command):`,
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

/** These options would be ignored by a command that asks no service, and a person take one service for another. */
function refuseForServers(command: Command, { url, key, profile }: ServiceOptions): void {
  if (asksOf(command) === "service" || (url ?? key ?? profile) === undefined) return;
  const where =
    asksOf(command) === undefined ? "asks no service" : "works on the servers that NATS_URL and MYSQL_URL name";
  throw new WrongUsage(`--url, --key and --profile name a service, and waybill ${pathOf(command)} ${where}`);
}

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

const serviceFlags: readonly string[] = ["--url", "--key", "--profile"];

/**
 * The arguments with the options of the program in front, wherever they stand: behind the name of a command that has an
 * option of the same name (`verify --key`), they are the command's.
 */
export function serviceOptionsFirst(program: Command, args: readonly string[]): readonly string[] {
  const front: string[] = [];
  const others: string[] = [];
  let named = program;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "--") return [...front, ...others, ...args.slice(at)];
    const [flag = ""] = word.split("=", 1);
    const isOfCommand = named !== program && named.options.some(({ long }) => long === flag);
    if (!serviceFlags.includes(flag) || isOfCommand) {
      others.push(word);
      named = named.commands.find((one) => one.name() === word) ?? named;
    } else if (word !== flag) front.push(word);
    else if (at + 1 === args.length) throw new WrongUsage(`${flag} needs a value`);
    else {
      at += 1;
      front.push(flag, args[at] ?? "");
    }
  }
  return [...front, ...others];
}
