import type { Knex } from "knex";
import type { Instant } from "../src/domain/message.ts";
import type { Projector } from "./projector.ts";
import { readTableSets, type TableSets } from "./rebuilding/kept-tables.ts";
import { type RebuildRequest, readRebuildRequests, requestRebuild } from "./rebuilding/rebuild-requests.ts";

/** How a read model stands. */
export type ReadModelState = TableSets & {
  /** Of this release; its rows may be of another. */
  readonly version: number;
  /** Null where nobody asked for a rebuild. */
  readonly request: RebuildRequest | null;
};

/** What operators see of the read models, and do with them. Throws where the database cannot be reached. */
export type ReadModels = {
  list(): Promise<readonly ReadModelState[]>;
  /** Answers the request as it is then, which may be somebody's before; null where there is no such projection. */
  requestRebuild(projection: string, requestedBy: string, requestedAt: Instant): Promise<RebuildRequest | null>;
};

export function createReadModels(db: Knex, projectors: readonly Projector[]): ReadModels {
  const requestOf = async (projection: string): Promise<RebuildRequest | null> =>
    (await readRebuildRequests(db)).find((request) => request.projection === projection) ?? null;
  return {
    list: async () => {
      // The requests first: one that is carried out in between shows as done late, and never as not asked for and not done.
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
      // Carried out by now, it is gone.
      return (await requestOf(projection)) ?? { ...request, error: null };
    },
  };
}
