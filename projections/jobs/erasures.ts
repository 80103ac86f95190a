import type { Knex } from "knex";
import type { Erasure } from "../../src/domain/job/events.ts";
import type { Suffix } from "../projector.ts";
import { jobTables } from "./tables.ts";

/** The erasures in a batch, by the id of the job. */
export type Erasures = {
  /** The jobs whose whole content and recipients were erased. */
  readonly whole: Set<string>;
  /** The jobs that were retired from all lists: their rows are deleted. */
  readonly retired: Set<string>;
  /** The recipients that were erased one by one. */
  readonly recipients: Map<string, number[]>;
};

export function takeErasure({ whole, retired, recipients }: Erasures, jobId: string, erasure: Erasure): void {
  if (erasure.recipients === null) whole.add(jobId);
  else recipients.set(jobId, [...(recipients.get(jobId) ?? []), ...erasure.recipients]);
  if (erasure.isRetired) retired.add(jobId);
}

/** Decides by the events alone: the content store may not have overwritten the content yet. */
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

/** Deletes the ledgers too, from which folds continue: these jobs are over. */
export async function removeJobs(transaction: Knex.Transaction, suffix: Suffix, ids: readonly string[]): Promise<void> {
  const { jobs, ledgers } = jobTables(suffix);
  for (const jobId of ids) {
    await transaction(jobs).where({ id: jobId }).delete();
    await transaction(ledgers).where({ job_id: jobId }).delete();
  }
}
