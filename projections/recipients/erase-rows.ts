import type { Erasure } from "../../src/domain/job/events.ts";
import type { ProjectionTarget } from "../projector.ts";
import type { FoldingJob } from "./rows.ts";
import { recipientTables } from "./tables.ts";

/** Drops who it was; what became of each stays, unless the job is in no list any more. */
export async function eraseRows(
  { transaction, suffix }: Pick<ProjectionTarget, "transaction" | "suffix">,
  { sequence, jobId }: FoldingJob,
  { recipients, isRetired }: Erasure,
): Promise<void> {
  const tables = recipientTables(suffix);
  const rows = transaction(tables.recipients).where({ sequence });
  const job = transaction(tables.jobs).where({ job_id: jobId });
  if (isRetired) {
    await rows.delete();
    await job.delete();
  } else if (recipients === null) {
    await rows.update({ email: null, address: null });
    await job.update({ name: null, subject: null });
  } else {
    await rows.whereIn("recipient", [...recipients]).update({ email: null, address: null });
  }
}
