import { type DestinationStream, type Logger, pino } from "pino";
import { build as prettyStream } from "pino-pretty";

/**
 * JSON lines, and readable ones on a terminal. Whoever logs names fields one by one, so that no body, address or secret
 * gets in with a whole object; the redaction is the second net.
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

/**
 * An error as it may be logged. Messages about SQL can hold what a client asked for, an address for instance: of
 * those only code and place are kept.
 */
export function toLoggable(failure: unknown): Readonly<Record<string, unknown>> {
  if (!(failure instanceof Error)) return { thrown: typeof failure };
  const code = "code" in failure ? failure.code : undefined;
  const frames = failure.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  const message = "sql" in failure || "sqlMessage" in failure ? "left out" : failure.message;
  const cause = failure.cause === undefined ? undefined : toLoggable(failure.cause);
  return { name: failure.name, code, message, frames, cause };
}
