import { Command } from "commander";
import type { CommandContext } from "../../src/cli/command-context.ts";
import { readConfig } from "../../src/settings/config.ts";

/** What a process gives to its commands, without a terminal or any file of a person. */
export const quietProcess: Omit<CommandContext, "readConfig" | "print" | "tell"> = {
  isTerminal: false,
  logForm: "json",
  paint: (_, text) => text,
  profileFile: "/nonexistent/waybill/config.json",
  serviceOptions: () => ({}),
  ask: null,
  overwrite: () => {},
  interrupted: new AbortController().signal,
};

export type Ran = {
  /** The lines on standard output. */
  readonly printed: readonly string[];
  /** The lines on standard error, what overwrites others included. */
  readonly told: readonly string[];
};

export type CommandLine = {
  /** Throws what the command throws; what it said until then is in `last`. */
  run(...args: readonly string[]): Promise<Ran>;
  /** What the last command said, also where it failed. */
  last(): Ran;
};

type Options = {
  readonly isTerminal?: boolean;
  readonly interrupted?: AbortSignal;
  /** The answer that is typed at the terminal for a question. */
  readonly ask?: (question: string) => Promise<string>;
  /** Called with each line as it is told. */
  readonly onTold?: (line: string) => void;
};

/** Some commands by themselves, with an environment of the test's; what they throw is the test's to look at. */
export function createCommandLine(
  commands: readonly ((program: Command, context: CommandContext) => void)[],
  env: Readonly<Record<string, string>>,
  { isTerminal = false, ask, interrupted = new AbortController().signal, onTold = () => {} }: Options = {},
): CommandLine {
  let last: Ran = { printed: [], told: [] };
  return {
    last: () => last,
    run: async (...args) => {
      const printed: string[] = [];
      const told: string[] = [];
      // Its own, as two may run at once.
      const own = { printed, told };
      last = own;
      const tell = (line: string): void => {
        told.push(line);
        onTold(line);
      };
      const context: CommandContext = {
        ...quietProcess,
        readConfig: (overrides = {}) => readConfig({ ...env, ...overrides }),
        print: (line) => printed.push(line),
        tell,
        isTerminal,
        ask: ask ?? null,
        overwrite: (text) => tell(text ?? ""),
        interrupted,
      };
      const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
      for (const add of commands) add(program, context);
      await program.parseAsync(args, { from: "user" });
      return own;
    },
  };
}
