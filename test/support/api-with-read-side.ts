import { createDeadLetterQueries } from "../../projections/dead-letters/queries.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createLogQueries } from "../../projections/logs/queries.ts";
import { openReadSide, type ReadSide } from "./read-side.ts";
import { type RunningApi, startApi } from "./running-api.ts";

export type ApiWithReadSide = { readonly api: RunningApi; readonly readSide: ReadSide; close(): Promise<void> };

/** The API over a log in memory and a real database; nothing is projected until a projector is started. */
export async function startApiWithReadSide(): Promise<ApiWithReadSide> {
  const readSide = await openReadSide();
  const { db, log, contentStore, positions } = readSide;
  const queries = {
    jobs: createJobQueries(db),
    logs: createLogQueries(db),
    deadLetters: createDeadLetterQueries(db),
    readPosition: positions,
  };
  const api = await startApi({ log, contentStore, ...queries });
  const close = async (): Promise<void> => {
    await api.close();
    await readSide.cleanUp();
  };
  return { api, readSide, close };
}
