import { describeFailure } from "../../src/database/database-failure.ts";

type Say = (fields: object, message: string) => void;

/** What a projection needs of a pino logger. */
export type ProjectionLogger = { readonly info: Say; readonly warn: Say; readonly error: Say };

const sayAgainAfterMs = 60_000;

/** A line when a projection begins to wait, one a minute while it does, and one when it goes on. */
export function createOutageReport(logger: ProjectionLogger, projection: string) {
  let saidAt: number | null = null;
  return {
    goesOn: (failure: unknown): void => {
      if (saidAt !== null && Date.now() - saidAt < sayAgainAfterMs) return;
      saidAt = Date.now();
      logger.warn({ projection, error: describeFailure(failure) }, "The projection waits.");
    },
    isOver: (): void => {
      if (saidAt !== null) logger.info({ projection }, "The projection goes on.");
      saidAt = null;
    },
  };
}
