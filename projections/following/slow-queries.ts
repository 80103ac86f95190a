import type { Knex } from "knex";
import { createFairSemaphore, type FairSemaphore } from "../../src/process/semaphore.ts";
import { TooManySlowQueries } from "./read-failure.ts";

/** At a time, fewer than any pool has connections: a tenant that asks without end leaves some to others. */
const ofTenant = 2;
/** As long as a search waits for a connection. */
const patienceMs = 1_500;

const placesOf = new WeakMap<Knex, FairSemaphore>();

/** Asks what takes long, once the tenant has a place for it among the connections; throws TooManySlowQueries. */
export async function askSlowly<Result>(db: Knex, tenant: string, ask: () => Promise<Result>): Promise<Result> {
  const places = placesOf.get(db) ?? createFairSemaphore(Number.POSITIVE_INFINITY, ofTenant);
  placesOf.set(db, places);
  const asked = await places.runWithin(patienceMs, tenant, async () => ({ result: await ask() }));
  if (asked === null) throw new TooManySlowQueries("Other queries of the tenant take too long.");
  return asked.result;
}
