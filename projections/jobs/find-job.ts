import type { Knex } from "knex";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { ReadPositions } from "../following/read-position.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { jobsProjector } from "./projector.ts";
import type { JobRow } from "./rows.ts";
import { jobTables } from "./tables.ts";

const { jobs } = jobTables("");

const longestWaitMs = 5000;

/** Finds jobs by their ids, which no two tenants share. */
export function createJobFinder(db: Knex, positions: ReadPositions) {
  const { tenantOf } = onReadableRows(db, jobsProjector, {
    tenantOf: async (jobId: string): Promise<string | null> =>
      (await db<JobRow>(jobs).where({ id: jobId }).first("tenant"))?.tenant ?? null,
  });
  return {
    tenantOf,
    caughtUp: async (sequence: number): Promise<void> => {
      if (await positions.waitFor(jobsProjector.name, sequence, longestWaitMs)) return;
      throw new Unavailable(`The read model has not reached sequence ${sequence} yet.`);
    },
  };
}
