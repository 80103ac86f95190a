import process from "node:process";
import type { Logger } from "pino";

/** The time beyond SHUTDOWN_TIMEOUT for closing connections after the work was given up. */
export const graceMs = 2000;

/** After an uncaught error the state of the process cannot be trusted, so the process ends. */
export class UncaughtError extends Error {
  override readonly name = "UncaughtError";
}

/**
 * Handles uncaught errors and unhandled rejections of every thread of this process. The first one is logged and aborts
 * the signal, with an UncaughtError as its reason; the service then stops as on SIGTERM, so that mails in flight are
 * finished and recorded. A second one ends the process at once, unless it has the same text as the first: one cause often
 * breaks several connections. After `withinMs` the process ends in any case.
 */
export function installLastResort(logger: Logger, withinMs: number): AbortSignal {
  const breaking = new AbortController();
  let first: string | null = null;
  const end = (): never => {
    try {
      return process.exit(1);
    } catch {
      // A listener of "exit" has thrown. None is called a second time.
      return process.exit(1);
    }
  };

  const onUncaught = (thrown: unknown): void => {
    // Code can also throw values that are not errors, such as undefined.
    const failure = thrown instanceof Error ? thrown : new Error(String(thrown));
    if (first === null) {
      first = String(failure);
      logger.fatal({ err: failure, withinMs }, "uncaught error; finishing work in flight, then exiting");
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
