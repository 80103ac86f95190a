import type { Command } from "commander";

export type Explanation = {
  /** Command lines that work as they are, except for ids and names of files. */
  readonly examples: readonly string[];
  /** What the command connects to, which determines its settings. */
  readonly asks?: "service" | "servers" | "nats";
  /** The meaning of exit codes 0 and 1 if it is more than done and failed. */
  readonly exits?: readonly [done: string, failed: string];
  /** What else the user has to know. */
  readonly notes?: string;
};

const settings = {
  service: `The service, from an option or from the environment:
  --url <url>       WAYBILL_URL      its URL (default: http://127.0.0.1:3000, or from HOST and PORT)
  --key <key>       WAYBILL_KEY      the API key, if it requires one: waybill keys create
  --profile <name>  WAYBILL_PROFILE  both, as waybill profiles set stored them`,
  servers: `Settings, from the environment:
  NATS_URL, MYSQL_URL  the servers to work on
  DATA_DIR             else: the folder of a service, whose servers are used (default: .waybill)
  COMMAND_PATIENCE     how long to retry while NATS does not answer, in ms (default: 30000)`,
  nats: `Settings, from the environment:
  NATS_URL          the server to work on
  DATA_DIR          else: the folder of a service, whose server is used (default: .waybill)
  COMMAND_PATIENCE  how long to retry while NATS does not answer, in ms (default: 30000)`,
} as const;

const asked = new WeakMap<Command, Explanation["asks"]>();

/** What the command connects to; undefined for one that connects to nothing, or does so only on request. */
export const asksOf = (command: Command): Explanation["asks"] => asked.get(command);

/** Adds to the help of a command everything that a user needs, so that no other document has to be read. */
export function explain(
  command: Command,
  { examples, asks, exits: [done, failed] = ["done", "failed"], notes }: Explanation,
): Command {
  asked.set(command, asks);
  const sections = [
    ...(notes === undefined ? [] : [notes]),
    ["Examples:", ...examples.map((line) => `  ${line}`)].join("\n"),
    ...(asks === undefined ? [] : [settings[asks]]),
    `Exit code: 0 ${done}, 1 ${failed}, 2 wrong usage.`,
  ];
  return command.addHelpText("after", `\n${sections.join("\n\n")}`);
}
