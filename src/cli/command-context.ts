import type { LogForm } from "../process/logger.ts";
import type { Paint } from "../process/terminal-line.ts";
import type { Config } from "../settings/config.ts";

/** What the process gives to every command. Only main.ts, and for uncaught errors last-resort.ts, access the process itself. */
export type ProcessContext = {
  /** Throws InvalidConfig. An override is a setting that a command line option gives. */
  readonly readConfig: (overrides?: Readonly<Record<string, string>>) => Config;
  /** Writes a line to standard output. */
  readonly print: (line: string) => void;
  /** Writes a line to standard error, for the person who runs the command. */
  readonly tell: (line: string) => void;
  readonly isTerminal: boolean;
  /** How the log of this process is written. */
  readonly logForm: LogForm;
  /** Gives text on standard output a colour, where that is a terminal which wants colours. */
  readonly paint: Paint;
  /** The file with the profiles of the person who runs the command. */
  readonly profileFile: string;
  /** Asks a question on the terminal and returns the line that was typed; null without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Replaces the last line of the terminal; null begins a new line. */
  readonly overwrite: (text: string | null) => void;
  /** Aborts with the first SIGTERM or SIGINT. */
  readonly interrupted: AbortSignal;
};

/** The options of the program, which stand before or behind the name of a command. */
export type ServiceOptions = { readonly url?: string; readonly key?: string; readonly profile?: string };

/** What a command may use of its process. */
export type CommandContext = ProcessContext & { readonly serviceOptions: () => ServiceOptions };
