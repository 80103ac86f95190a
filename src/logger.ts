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
