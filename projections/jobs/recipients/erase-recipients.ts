import type { Knex } from "knex";
import type { Suffix } from "../../projector.ts";
import { recipientTables } from "./rows.ts";

const erased = { email: null, address: null };

/** Drops the identities of some recipients of a job, or of all (null); what happened to them stays. */
export async function eraseRecipients(
  transaction: Knex.Transaction,
  suffix: Suffix,
  job: number,
  recipients: readonly number[] | null,
): Promise<void> {
  const rows = transaction(recipientTables(suffix).recipients).where({ job });
  await (recipients === null ? rows.update(erased) : rows.whereIn("recipient", [...recipients]).update(erased));
}

export async function removeRecipients(transaction: Knex.Transaction, suffix: Suffix, job: number): Promise<void> {
  for (const table of Object.values(recipientTables(suffix))) await transaction(table).where({ job }).delete();
}
