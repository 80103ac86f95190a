import type { Knex } from "knex";
import type { Erasure } from "../../src/domain/job/events.ts";
import type { Suffix } from "../projector.ts";
import { jobTables } from "./tables.ts";

/** What a batch tells of erasures, by the id of the job. */
export type Erasures = {
  /** Nothing is left of what they sent and to whom. */
  readonly whole: Set<string>;
  /** In no list any more: their rows go. */
  readonly retired: Set<string>;
  /** Who was erased by themselves. */
  readonly recipients: Map<string, number[]>;
};

export function takeErasure({ whole, retired, recipients }: Erasures, jobId: string, erasure: Erasure): void {
  if (erasure.recipients === null) whole.add(jobId);
  else recipients.set(jobId, [...(recipients.get(jobId) ?? []), ...erasure.recipients]);
  if (erasure.isRetired) retired.add(jobId);
}

/** By the events alone: what the content store still holds may not be overwritten yet. */
export async function eraseContents(
  transaction: Knex.Transaction,
  suffix: Suffix,
  { whole, recipients }: Erasures,
): Promise<void> {
  const { contents } = jobTables(suffix);
  for (const jobId of whole) await transaction(contents).where({ job_id: jobId }).delete();
  for (const [jobId, indices] of recipients) {
    const row: { recipients: string } | undefined = await transaction(contents)
      .where({ job_id: jobId })
      .first("recipients");
    if (row === undefined) continue;
    const addresses: unknown[] = JSON.parse(row.recipients);
    for (const index of indices) addresses[index] = null;
    await transaction(contents)
      .where({ job_id: jobId })
      .update({ recipients: JSON.stringify(addresses) });
  }
}

/** The ledgers too, from which folds go on: these are over. */
export async function removeJobs(transaction: Knex.Transaction, suffix: Suffix, ids: readonly string[]): Promise<void> {
  const { jobs, ledgers } = jobTables(suffix);
  for (const jobId of ids) {
    await transaction(jobs).where({ id: jobId }).delete();
    await transaction(ledgers).where({ job_id: jobId }).delete();
  }
}
