import { allProjectors } from "../../projections/all-projectors.ts";
import { createDeadLetterQueries } from "../../projections/dead-letters/queries.ts";
import { createProjectionLags } from "../../projections/following/projection-lag.ts";
import type { ReadPositions } from "../../projections/following/read-position.ts";
import { createMailingQueries } from "../../projections/jobs/mailings/queries.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createLogQueries } from "../../projections/jobs/recipients/log-queries.ts";
import { createRecipientQueries } from "../../projections/jobs/recipients/queries.ts";
import { createStatsQueries } from "../../projections/jobs/stats/queries.ts";
import { createMailRateQueries } from "../../projections/mail-rates/queries.ts";
import { createNotificationQueries } from "../../projections/notifications/queries.ts";
import { createReadModels } from "../../projections/read-models.ts";
import { createScheduleQueries } from "../../projections/schedules/queries.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import type { LogGauge } from "../../src/event-log/following/log-gauge.ts";
import type { ApiDependencies } from "../../src/http/api.ts";
import { now } from "./examples.ts";
import { openReadSide, type ReadSide } from "./read-side.ts";
import { type RunningApi, startApi } from "./running-api.ts";

export type ApiWithReadSide = { readonly api: RunningApi; readonly readSide: ReadSide; close(): Promise<void> };

/** The API over a log in memory and a real database; nothing is projected until a projector is started. */
export async function startApiWithReadSide(
  given: Partial<ApiDependencies> = {},
  opened: ReadSide | null = null,
): Promise<ApiWithReadSide> {
  const readSide = opened ?? (await openReadSide());
  const { db, log, contentStore } = readSide;
  const queries = {
    jobs: createJobQueries(db),
    mailings: createMailingQueries(db),
    logs: createLogQueries(db),
    recipients: createRecipientQueries(db),
    exportedRecipients: createRecipientQueries(db),
    deadLetters: createDeadLetterQueries(db),
    notifications: createNotificationQueries(db),
    schedules: createScheduleQueries(db),
    stats: createStatsQueries(db),
    mailRates: createMailRateQueries(db),
    projectionLags: createProjectionLags(db, allProjectors, gaugeOf(log)),
    readModels: createReadModels(db, allProjectors),
    readPosition: { waitFor: patiently(readSide) },
  };
  const api = await startApi({ log, contentStore, ...queries, ...given });
  const close = async (): Promise<void> => {
    await api.close();
    await readSide.cleanUp();
  };
  return { api, readSide, close };
}

/**
 * Goes on waiting for what is in the log while a projector is at it, as long as the API lets a query take: on a busy machine
 * that may be longer than the API waits for a read model.
 */
const patiently =
  ({ log, positions, isProjecting }: ReadSide): ReadPositions["waitFor"] =>
  async (projection, sequence, withinMs) => {
    if (await positions.waitFor(projection, sequence, withinMs)) return true;
    const isComing = isProjecting(projection) && sequence <= (await log.state()).lastSequence;
    return isComing && (await positions.waitFor(projection, sequence, 30_000));
  };

/** The events in the log in memory have no actor, and all have the time of the examples. */
const gaugeOf = (log: EventLog): LogGauge => ({
  size: async () => ({ lastSequence: (await log.state()).lastSequence, bytes: 0, maxBytes: null }),
  consumers: async () => [],
  storedAfter: async () => now,
});
