import { isStoredOutcome } from "../../projections/jobs/recipients/outcome-details.ts";
import type { EventOf, Projector } from "../../projections/projector.ts";
import { insertRows } from "../../src/database/write-rows.ts";
import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import { placeOf } from "../../src/event-log/place.ts";

type Row = { readonly place: number; readonly job_id: string; readonly type: string };

/**
 * A second read model beside `jobs`, for tests of what is done to several: a row for each outcome of a recipient, until
 * the content of its job is erased.
 */
export const outcomesProjector: Projector<RecipientOutcome | EventOf<"JobContentErased">> = {
  name: "outcomes",
  version: 1,
  tables: {
    outcomes: `
      place BIGINT NOT NULL,
      job_id VARCHAR(64) NOT NULL,
      type VARCHAR(32) NOT NULL,
      PRIMARY KEY (place)`,
  },
  views: { all_outcomes: "SELECT place, job_id FROM outcomes" },
  handles: [
    "RecipientSent",
    "RecipientDeferred",
    "RecipientFailed",
    "RecipientUnknown",
    "RecipientSuppressed",
    "JobContentErased",
  ],
  project: async (events, { transaction, suffix }) => {
    const table = `outcomes${suffix}`;
    const outcomes = events.filter(isStoredOutcome);
    await insertRows<Row>(transaction, {
      table,
      columns: ["place", "job_id", "type"],
      rows: outcomes.map((stored) => ({ place: placeOf(stored), job_id: stored.jobId, type: stored.event.type })),
    });
    const erased = events.filter((stored) => !isStoredOutcome(stored)).map(({ jobId }) => jobId);
    await transaction(table).whereIn("job_id", erased).delete();
  },
};
