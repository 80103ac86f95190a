import type { Knex } from "knex";
import type { Instant } from "../src/domain/message.ts";
import type { Projector } from "./projector.ts";
import { readTableSets, type TableSets } from "./rebuilding/kept-tables.ts";
import { type RebuildRequest, readRebuildRequests, requestRebuild } from "./rebuilding/rebuild-requests.ts";

/** The state of a read model. */
export type ReadModelState = TableSets & {
  /** The version of this release; the rows may be of another. */
  readonly version: number;
  /** Null if no rebuild was requested. */
  readonly request: RebuildRequest | null;
};

/** The operators' view of the read models, and their actions on them. Throws if the database cannot be reached. */
export type ReadModels = {
  list(): Promise<readonly ReadModelState[]>;
  /** Returns the pending request, which may be an earlier one; null if there is no such projection. */
  requestRebuild(projection: string, requestedBy: string, requestedAt: Instant): Promise<RebuildRequest | null>;
};

export function createReadModels(db: Knex, projectors: readonly Projector[]): ReadModels {
  const requestOf = async (projection: string): Promise<RebuildRequest | null> =>
    (await readRebuildRequests(db)).find((request) => request.projection === projection) ?? null;
  return {
    list: async () => {
      // Reads the requests first: one that is carried out in between shows as done late, and never as neither requested
      // nor done.
      const requests = await readRebuildRequests(db);
      const sets = await readTableSets(db, projectors);
      return projectors.map(({ name, version }, index) => ({
        ...(sets[index] as TableSets),
        version,
        request: requests.find(({ projection }) => projection === name) ?? null,
      }));
    },
    requestRebuild: async (projection, requestedBy, requestedAt) => {
      if (!projectors.some(({ name }) => name === projection)) return null;
      const request = { projection, requestedBy, requestedAt };
      await requestRebuild(db, request);
      // Carried out meanwhile, it is gone.
      return (await requestOf(projection)) ?? { ...request, error: null };
    },
  };
}
