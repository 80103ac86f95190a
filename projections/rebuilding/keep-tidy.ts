import type { Knex } from "knex";
import { TableHeld } from "../../src/database/table-held.ts";
import { createOutageReport, type LineLogger } from "../../src/process/logger.ts";
import { keepPolling } from "../../src/process/poll-loop.ts";
import type { Projector } from "../projector.ts";
import { dropUnwanted } from "./kept-tables.ts";

const defaultTidyMs = 30_000;

export type Tidying = {
  readonly db: Knex;
  readonly projector: Projector;
  readonly logger: LineLogger;
  readonly tidyEveryMs?: number;
};

/**
 * Drops unwanted tables now and then until the signal aborts: a process may have been killed before it dropped them, or a
 * session may have kept one open. That is logged, with the session; any other failure is the projection's own, too, which
 * reports it. It never rejects.
 */
export async function keepTidy(tidying: Tidying, signal: AbortSignal): Promise<void> {
  const { db, projector, logger, tidyEveryMs: everyMs = defaultTidyMs } = tidying;
  const outage = createOutageReport(logger, { projection: projector.name }, "dropping old tables");
  const poll = async (): Promise<"done"> => {
    await dropUnwanted(db, projector);
    outage.recovered();
    return "done";
  };
  const report = (failure: unknown): void => {
    if (failure instanceof TableHeld) outage.failed(failure);
  };
  await keepPolling({ poll, everyMs, report }, signal);
}
