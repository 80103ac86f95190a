import type { Knex } from "knex";
import type { Erasure } from "../../src/domain/job/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Suffix } from "../projector.ts";
import { eraseRecipients, removeRecipients } from "./recipients/erase-recipients.ts";
import { jobTables } from "./tables.ts";

/** The erasures in a batch, by the id of the job, with the place of its creation. */
export type Erasures = {
  /** The jobs whose whole content and recipients were erased. */
  readonly whole: Map<string, number>;
  /** The jobs that were retired from all lists: their rows are deleted. */
  readonly retired: Map<string, number>;
  /** The recipients that were erased one by one. */
  readonly recipients: Map<string, { readonly place: number; readonly indices: number[] }>;
};

export const noErasures = (): Erasures => ({ whole: new Map(), retired: new Map(), recipients: new Map() });

export function takeErasure(
  { whole, retired, recipients }: Erasures,
  { jobId, place }: JobRef & { readonly place: number },
  erasure: Erasure,
): void {
  if (erasure.recipients === null) whole.set(jobId, place);
  else {
    const indices = [...(recipients.get(jobId)?.indices ?? []), ...erasure.recipients];
    recipients.set(jobId, { place, indices });
  }
  if (erasure.isRetired) retired.set(jobId, place);
}

/** Decides by the events alone: the content store may not have overwritten the content yet. */
export async function eraseContents(
  transaction: Knex.Transaction,
  suffix: Suffix,
  { whole, recipients }: Erasures,
): Promise<void> {
  const { contents } = jobTables(suffix);
  for (const [jobId, place] of whole) {
    await transaction(contents).where({ job_id: jobId }).delete();
    await eraseRecipients(transaction, suffix, place, null);
  }
  for (const [jobId, { place, indices }] of recipients) {
    await eraseRecipients(transaction, suffix, place, indices);
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
export async function removeJobs(
  transaction: Knex.Transaction,
  suffix: Suffix,
  { retired }: Pick<Erasures, "retired">,
): Promise<void> {
  const { jobs, ledgers } = jobTables(suffix);
  for (const [jobId, place] of retired) {
    await removeRecipients(transaction, suffix, place);
    await transaction(jobs).where({ id: jobId }).delete();
    await transaction(ledgers).where({ job_id: jobId }).delete();
  }
}
