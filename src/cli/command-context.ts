import type { Config } from "../settings/config.ts";

/** What a command may use of its process. Only main.ts, and for uncaught errors last-resort.ts, access the process itself. */
export type CommandContext = {
  /** Throws InvalidConfig. An override is a setting that a command line option gives. */
  readonly readConfig: (overrides?: Readonly<Record<string, string>>) => Config;
  /** Writes a line to standard output. */
  readonly print: (line: string) => void;
  /** Writes a line to standard error, for the person who runs the command. */
  readonly tell: (line: string) => void;
  readonly isTerminal: boolean;
  /** Asks a question on the terminal and returns the line that was typed; null without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Replaces the last line of the terminal; null begins a new line. */
  readonly overwrite: (text: string | null) => void;
  /** Aborts with the first SIGTERM or SIGINT. */
  readonly interrupted: AbortSignal;
};
