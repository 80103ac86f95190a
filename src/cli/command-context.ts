import type { Config } from "../config.ts";

/** What a command has of the process it runs in; only main.ts, and for uncaught errors last-resort.ts, touch the process itself. */
export type CommandContext = {
  /** Throws InvalidConfig. A command line option stands for a setting. */
  readonly readConfig: (overrides?: Readonly<Record<string, string>>) => Config;
  /** A line on standard output. */
  readonly print: (line: string) => void;
  /** A line on standard error, for people who wait. */
  readonly tell: (line: string) => void;
  readonly isTerminal: boolean;
  /** A question to who sits at the terminal, and the line they answer; null where there is no terminal to ask on. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Replaces what stands on the last line of the terminal; null moves on to a new one. */
  readonly overwrite: (text: string | null) => void;
  /** Aborts with the first SIGTERM or SIGINT. */
  readonly interrupted: AbortSignal;
};
