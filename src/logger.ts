import { type DestinationStream, type Logger, pino } from "pino";
import { build as prettyStream } from "pino-pretty";

/**
 * JSON lines, and readable ones on a terminal. Callers name the fields of a line one by one, so that no body, address or
 * secret gets in with a whole object; the redaction is the second net.
 */
export function createLogger(level: string, isTerminal: boolean, name: string): Logger {
  const options = {
    level,
    base: { process: name },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ["password", "*.password", "*.pass", "authorization", "*.authorization"],
  };
  return isTerminal ? pino(options, toTerminal()) : pino(options);
}

const toTerminal = (): DestinationStream =>
  prettyStream({ ignore: "process", translateTime: "HH:MM:ss.l", sync: true, destination: 2 });

/** An error as it may be logged. A message about SQL can hold what a client asked for, such as an address: it is left out. */
export function toLoggable(failure: unknown): Readonly<Record<string, unknown>> {
  if (!(failure instanceof Error)) return { thrown: typeof failure };
  const code = "code" in failure ? failure.code : undefined;
  const frames = failure.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  const message = "sql" in failure || "sqlMessage" in failure ? "left out" : failure.message;
  const cause = failure.cause === undefined ? undefined : toLoggable(failure.cause);
  return { name: failure.name, code, message, frames, cause };
}

/** What went wrong, for people: in the words of the database server where it said something. */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { sqlMessage } = failure as Error & { sqlMessage?: unknown };
  return typeof sqlMessage === "string" ? sqlMessage : failure.message;
}

type Say = (fields: object, message: string) => void;

/** What most parts need of a pino logger. */
export type LineLogger = { readonly info: Say; readonly warn: Say; readonly error: Say };

export type OutageReport = {
  readonly failed: (failure: unknown) => void;
  readonly recovered: () => void;
};

const sayAgainAfterMs = 60_000;

/**
 * For work that is retried over and over: one line when it begins to fail, one a minute while it does, not one for each
 * try, and one when it succeeds again, where the caller knows. `what` names the work in the message.
 */
export function createOutageReport(
  logger: Pick<LineLogger, "info" | "warn">,
  fields: Readonly<Record<string, string>>,
  what = "background work",
): OutageReport {
  let saidAt: number | null = null;
  return {
    failed: (failure) => {
      if (saidAt !== null && performance.now() - saidAt < sayAgainAfterMs) return;
      saidAt = performance.now();
      logger.warn({ ...fields, error: describeFailure(failure) }, `${what} failed; retrying`);
    },
    recovered: () => {
      if (saidAt !== null) logger.info(fields, `${what} is running again`);
      saidAt = null;
    },
  };
}
