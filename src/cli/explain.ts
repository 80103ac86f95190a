import type { Command } from "commander";

export type Explanation = {
  /** Command lines that can be typed as they are, but for ids and names of files. */
  readonly examples: readonly string[];
  /** What the command talks to, and so which settings it takes. */
  readonly asks?: "service" | "servers" | "nats";
  /** Where the codes say more than done, failed and wrong usage: what 0 and 1 stand for. */
  readonly exits?: readonly [done: string, failed: string];
  /** What else has to be known to use it. */
  readonly notes?: string;
};

const settings = {
  service: `Settings, from the environment:
  WAYBILL_URL  where the service is (default: http://127.0.0.1:3000, or as HOST and PORT say)
  WAYBILL_KEY  the API key that is shown to it, where it asks for one: waybill keys create`,
  servers: `Settings, from the environment:
  NATS_URL, MYSQL_URL  the servers to work on
  DATA_DIR             where they are not named: those of the service that runs or ran here (default: .waybill)
  COMMAND_PATIENCE     ms that it tries again where NATS does not answer (default: 30000)`,
  nats: `Settings, from the environment:
  NATS_URL          the server to work on
  DATA_DIR          where it is not named: that of the service that runs or ran here (default: .waybill)
  COMMAND_PATIENCE  ms that it tries again where NATS does not answer (default: 30000)`,
} as const;

/** Adds to the help of a command all that is needed to use it without having read anything else. */
export function explain(
  command: Command,
  { examples, asks, exits: [done, failed] = ["done", "failed"], notes }: Explanation,
): Command {
  const sections = [
    ...(notes === undefined ? [] : [notes]),
    ["Examples:", ...examples.map((line) => `  ${line}`)].join("\n"),
    ...(asks === undefined ? [] : [settings[asks]]),
    `Exit code: 0 ${done}, 1 ${failed}, 2 wrong usage.`,
  ];
  return command.addHelpText("after", `\n${sections.join("\n\n")}`);
}
