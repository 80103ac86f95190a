import { setTimeout as pause } from "node:timers/promises";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { residentMbOf } from "../process-usage.ts";
import { startUnsyncedNats } from "./unsynced-nats.ts";
import { type AgedLog, writeAgedLog } from "./write-aged-log.ts";

/** NATS remembers ids for two minutes, and the writer's are more than a service ever has in that time. */
const forgetsIdsMs = 125_000;
const fewJobs = 100_000;

export type AgedStore = {
  /** A NATS that is started on it, as `startNatsServer` does it, finds the log. */
  readonly folder: string;
  readonly binary: string;
  readonly prefix: string;
  readonly jobs: number;
  /** How many of the jobs are named afterwards. */
  readonly some: number;
};

/** Writes an aged log into the store of a NATS that does not run; answers what that one took of memory as well. */
export async function writeAgedStore(
  { folder, binary, prefix, jobs, some }: AgedStore,
  lifecycle: Pick<Lifecycle, "started">,
): Promise<AgedLog & { readonly mb: number }> {
  const writing = await startUnsyncedNats(folder, binary, lifecycle);
  const written = await writeAgedLog({ nats: { config: writing.config, prefix } }, jobs, some);
  // 0 where the system does not tell.
  const mb = residentMbOf(writing.pid) ?? 0;
  await writing.stop();
  if (jobs > fewJobs) await pause(forgetsIdsMs);
  return { ...written, mb };
}
