import type { Knex } from "knex";
import { putRows } from "../../../src/database/write-rows.ts";
import type { Priority } from "../../../src/domain/job/events.ts";
import type { JobStatus } from "../../../src/domain/job/job-view.ts";
import type { Instant } from "../../../src/domain/message.ts";
import { inPortions } from "../../batch.ts";
import { toDate } from "../../instants.ts";
import type { Suffix } from "../../projector.ts";
import { statsTables } from "./tables.ts";

/** The part of a job that tells whether it waits for a worker, and whether it waits for a time before. */
type PerhapsWaiting = {
  readonly jobId: string;
  readonly tenant: string;
  readonly waitingSince: Instant | null;
  readonly view: { readonly status: JobStatus; readonly settings: { readonly priority: Priority } };
};

type WaitingRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly priority: Priority;
  readonly is_timed: 0 | 1;
  readonly waiting_since: Date;
};

/** Adds the jobs that began to wait for a worker, and removes those that no longer do. */
export async function writeWaiting(
  transaction: Knex.Transaction,
  suffix: Suffix,
  before: ReadonlyMap<string, PerhapsWaiting>,
  after: ReadonlyMap<string, PerhapsWaiting>,
): Promise<void> {
  const table = statsTables(suffix).waiting;
  const waiting = [...after.values()].flatMap((job) => toRow(job) ?? []);
  await putRows<WaitingRow>(transaction, {
    table,
    columns: ["job_id", "tenant", "priority", "is_timed", "waiting_since"],
    rows: waiting.sort((one, other) => (one.job_id < other.job_id ? -1 : 1)),
  });
  const over = [...before.values()].filter(
    ({ jobId, waitingSince }) => waitingSince !== null && (after.get(jobId)?.waitingSince ?? null) === null,
  );
  for (const some of inPortions(over)) {
    await transaction(table)
      .whereIn(
        "job_id",
        some.map(({ jobId }) => jobId),
      )
      .delete();
  }
}

function toRow({ jobId, tenant, waitingSince, view }: PerhapsWaiting): WaitingRow | null {
  if (waitingSince === null) return null;
  const { status, settings } = view;
  const is_timed = status === "scheduled" || status === "retrying" ? 1 : 0;
  return { job_id: jobId, tenant, priority: settings.priority, is_timed, waiting_since: toDate(waitingSince) };
}
