import { type DestinationStream, destination, type Logger, pino } from "pino";
import { paintFor, toTerminalLine } from "./terminal-line.ts";

/** How the log is written: for programs, or on a terminal for people. */
export type LogForm = "json" | "plain" | "coloured";

/**
 * Logs JSON lines, and on a terminal a readable line for each entry. Callers name the fields of a line one by one, so that no body,
 * address or secret enters the log with a whole object; the redaction is a second safeguard.
 */
export function createLogger(level: string, form: LogForm, name: string): Logger {
  const options = {
    level,
    base: { process: name },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ["password", "*.password", "*.pass", "authorization", "*.authorization"],
  };
  if (form !== "json") return pino(options, toTerminal(form, level));
  standardOutput ??= toStandardOutput();
  return pino(options, standardOutput);
}

/** All loggers of a process share it. */
let standardOutput: DestinationStream | null = null;

/** How long a line waits for others; a process that is killed may lose as much. */
const writeAfterMs = 10;

/**
 * Writes the lines of a few milliseconds together: a busy process logs thousands a second, and each write costs more than
 * the line. What is left is written when the process exits, also after an exception that nothing has caught.
 */
function toStandardOutput(): DestinationStream {
  const output = openOutput(1);
  let lines = "";
  const flush = (): void => {
    output.write(lines);
    lines = "";
  };
  process.once("exit", flush);
  return {
    write: (line) => {
      if (lines === "") setTimeout(flush, writeAfterMs).unref();
      lines += line;
    },
  };
}

/**
 * Lines are lost while they cannot be written, for instance to a file on a full disk: that ends no process. The output holds
 * the text at which writing began to fail, perhaps the rest of a line, and tries it again before the next one.
 */
function openOutput(dest: 1 | 2): DestinationStream {
  const output = destination({ dest, sync: true });
  let isFailing = false;
  output.on("error", () => {
    isFailing = true;
  });
  return {
    write: (lines) => {
      if (isFailing) {
        isFailing = false;
        output.write("");
      }
      if (!isFailing) output.write(lines);
    },
  };
}

function toTerminal(form: LogForm, level: string): DestinationStream {
  const output = openOutput(2);
  const paint = paintFor(form === "coloured");
  const withStack = level === "debug" || level === "trace";
  return { write: (line) => output.write(toTerminalLine(line, paint, withStack)) };
}

/** An error as it may be logged. Leaves out messages about SQL, which can contain input of a client, such as an address. */
export function toLoggable(failure: unknown): Readonly<Record<string, unknown>> {
  if (!(failure instanceof Error)) return { thrown: typeof failure };
  const code = "code" in failure ? failure.code : undefined;
  const frames = failure.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  const message = "sql" in failure || "sqlMessage" in failure ? "left out" : failure.message;
  const cause = failure.cause === undefined ? undefined : toLoggable(failure.cause);
  return { name: failure.name, code, message, frames, cause };
}

/** The failure in words for people: the message of the database server if there is one, without the values that it quotes. */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { sqlMessage } = failure as Error & { sqlMessage?: unknown };
  return typeof sqlMessage === "string" ? withoutValues(sqlMessage) : failure.message;
}

/** A row's values, as in `Duplicate entry '…' for key`, are addresses and subjects; other quotes are names of tables and columns. */
const withoutValues = (sqlMessage: string): string =>
  sqlMessage.replace(/\b(entry|value:?|near) '.*?'(?= for | at |$)/gs, "$1 '…'");

type LogLine = (fields: object, message: string) => void;

/** What most parts need of a pino logger. */
export type LineLogger = { readonly info: LogLine; readonly warn: LogLine; readonly error: LogLine };

export type OutageReport = {
  readonly failed: (failure: unknown) => void;
  readonly recovered: () => void;
};

const logAgainAfterMs = 60_000;

/**
 * For work that is retried without end. Logs one line when the work begins to fail, one a minute while it fails instead
 * of one for each attempt, and one when the caller reports that it recovered. `what` names the work in the message.
 */
export function createOutageReport(
  logger: Pick<LineLogger, "info" | "warn">,
  fields: Readonly<Record<string, string>>,
  what = "background work",
): OutageReport {
  let loggedAt: number | null = null;
  return {
    failed: (failure) => {
      if (loggedAt !== null && performance.now() - loggedAt < logAgainAfterMs) return;
      loggedAt = performance.now();
      logger.warn({ ...fields, error: describeFailure(failure) }, `${what} failed; retrying`);
    },
    recovered: () => {
      if (loggedAt !== null) logger.info(fields, `${what} is running again`);
      loggedAt = null;
    },
  };
}
