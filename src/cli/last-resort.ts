import process from "node:process";
import type { Logger } from "pino";

/** Beyond SHUTDOWN_TIMEOUT, for what is left to close after the work was given up. */
export const graceMs = 2000;

/** What the process does after an error that nothing caught cannot be trusted, so it ends. */
export class UncaughtError extends Error {
  override readonly name = "UncaughtError";
}

/**
 * What this process does about an error that nothing caught, an unhandled rejection among them, in any of its threads:
 * the first one is logged, and the service is to stop as if it were told to, so that mails in flight are finished and
 * recorded: the signal aborts, with an UncaughtError as its reason. Another one meanwhile ends the process at once, unless it says the same as the
 * first: one cause often breaks several connections. After `withinMs` the process ends in any case.
 */
export function installLastResort(logger: Logger, withinMs: number): AbortSignal {
  const breaking = new AbortController();
  let first: string | null = null;
  const end = (): never => process.exit(1);

  const onUncaught = (thrown: unknown): void => {
    // A throw of undefined is an error, too.
    const failure = thrown instanceof Error ? thrown : new Error(String(thrown));
    if (first === null) {
      first = String(failure);
      logger.fatal({ err: failure, withinMs }, "uncaught error; finishing what is in flight, then exiting");
      setTimeout(end, withinMs).unref();
      breaking.abort(
        new UncaughtError(`The process ends because of an error that nothing caught: ${failure.message}`, {
          cause: failure,
        }),
      );
      return;
    }
    const isTheSame = String(failure) === first;
    logger.fatal(
      { err: failure },
      isTheSame ? "the same uncaught error again" : "another uncaught error; exiting at once",
    );
    if (!isTheSame) end();
  };

  process.on("uncaughtException", onUncaught);
  return breaking.signal;
}
