import type { Argument, Command, Option } from "commander";
import type { ProcessContext } from "../../src/cli/command-context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { type exitCodes, runCommandLine } from "../../src/cli/run-command-line.ts";
import { readConfig } from "../../src/settings/config.ts";
import { quietProcess } from "./cli.ts";

/** A command as its users know it: `jobs show`. */
export type KnownCommand = {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  readonly parameters: readonly Argument[];
  /** It only holds other commands. */
  readonly isGroup: boolean;
};

export type Outcome = {
  readonly code: (typeof exitCodes)[keyof typeof exitCodes];
  /** All that was printed on standard output. */
  readonly out: string;
  /** All that was told on standard error. */
  readonly err: string;
};

type Env = Readonly<Record<string, string>>;

/** The whole program as main.ts runs it, in this process. `onTold` hears of each line as it is told. */
export async function runProgram(
  args: readonly string[],
  env: Env = {},
  isTerminal = false,
  onTold: (line: string) => void = () => {},
  more: Partial<ProcessContext> = {},
): Promise<Outcome> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(args, {
    ...quietProcess,
    ...more,
    readConfig: (overrides = {}) => readConfig({ LOG_LEVEL: "silent", ...env, ...overrides }),
    print: (line) => out.push(line),
    tell: (line) => {
      err.push(line);
      onTold(line);
    },
    isTerminal,
    overwrite: (text) => err.push(text === null ? "\n" : `\r${text}`),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

/** Every command that the program has, from the program itself. */
export async function allCommands(): Promise<readonly KnownCommand[]> {
  const context = { ...quietProcess, readConfig: () => readConfig({}), print: () => {}, tell: () => {} };
  const program = await createProgram(context, []);
  const below = (command: Command, path: readonly string[]): readonly KnownCommand[] =>
    command.commands.flatMap((child) => {
      const names = [...path, child.name()];
      const { options, registeredArguments: parameters } = child;
      const isGroup = child.commands.length > 0;
      const known = { name: names.join(" "), description: child.description(), options, parameters, isGroup };
      return [known, ...below(child, names)];
    });
  return below(program, []);
}
