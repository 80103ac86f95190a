import type { Knex } from "knex";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { rowsWith } from "../batch.ts";
import type { EventOf, Suffix } from "../projector.ts";
import { logErasuresTable, logsTable } from "./rows.ts";

export type Erasure = StoredEvent<EventOf<"JobContentErased">>;

type ErasureRow = { readonly job_id: string; readonly recipient: number };

/** Special values in the column of recipients, whose indexes count from 0. */
const everyRecipient = -1;
const retired = -2;

/** The known erasures: whether the address of a recipient is erased, and whether the job has no rows any more. */
export type KnownErasures = {
  readonly isErased: (jobId: string, recipient: number) => boolean;
  readonly isRetired: (jobId: string) => boolean;
};

/** Records the erasures for outcomes that come later, for example of mails in flight when a job was cancelled. */
export async function noteErasure(transaction: Knex.Transaction, suffix: Suffix, erasure: Erasure): Promise<void> {
  const { recipients, isRetired } = erasure.event.data;
  const erased = [...(recipients ?? [everyRecipient]), ...(isRetired ? [retired] : [])];
  const rows = erased.map((recipient) => ({ job_id: erasure.jobId, recipient }));
  await transaction(logErasuresTable(suffix)).insert(rows).onConflict().ignore();
}

export async function readErasures(
  transaction: Knex.Transaction,
  suffix: Suffix,
  jobIds: readonly string[],
): Promise<KnownErasures> {
  const rows = await rowsWith<ErasureRow>(transaction, logErasuresTable(suffix), "job_id", jobIds);
  const known = new Set(rows.map(({ job_id, recipient }) => `${job_id} ${recipient}`));
  return {
    isErased: (jobId, recipient) => known.has(`${jobId} ${everyRecipient}`) || known.has(`${jobId} ${recipient}`),
    isRetired: (jobId) => known.has(`${jobId} ${retired}`),
  };
}

export async function eraseRows(transaction: Knex.Transaction, suffix: Suffix, erasure: Erasure): Promise<void> {
  const { recipients, isRetired } = erasure.event.data;
  const rows = transaction(logsTable(suffix)).where({ job_id: erasure.jobId });
  if (isRetired) await rows.delete();
  else if (recipients === null) await rows.update({ email: null });
  else await rows.whereIn("recipient", [...recipients]).update({ email: null });
}
