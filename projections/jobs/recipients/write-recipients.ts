import type { JobContent } from "../../../src/content/content-store.ts";
import { insertRows, openInsert, putRows } from "../../../src/database/write-rows.ts";
import { readContents } from "../../batch.ts";
import type { ProjectionTarget } from "../../projector.ts";
import type { NotedJob } from "./note-outcomes.ts";
import { type EarlierRow, outcomeColumns, type RecipientRow, recipientTables, toRecipientRow } from "./rows.ts";

const columns = ["job", "recipient", "tenant", "email", "address", ...outcomeColumns] as const;
const earlierColumns = ["job", "recipient", "tenant", ...outcomeColumns, "counts"] as const;

/** Writes what a batch has noted, and marks in `hasRow` who has a row now. */
export async function writeRecipients(jobs: readonly NotedJob[], target: ProjectionTarget): Promise<void> {
  for (const job of jobs) if (job.notes.replaced.size > 0) await keepReplaced(job, target);
  await putOutcomes(jobs, target);
  await insertNew(jobs, target);
  const { transaction, suffix } = target;
  await insertRows<EarlierRow>(transaction, {
    table: recipientTables(suffix).earlier,
    columns: earlierColumns,
    rows: jobs.flatMap(({ notes }) => notes.earlier),
  });
}

/** Copies the outcomes that are about to be replaced to the earlier ones. */
async function keepReplaced({ place, notes }: NotedJob, { transaction, suffix }: ProjectionTarget): Promise<void> {
  const { recipients, earlier } = recipientTables(suffix);
  const some = [...notes.replaced].sort((one, other) => one - other);
  const copied = earlierColumns.filter((column) => column !== "counts").join(", ");
  const sql = `
    INSERT INTO ?? (${copied}, counts) SELECT ${copied}, 1 FROM ??
    WHERE job = ? AND recipient IN (${some.map(() => "?").join(", ")}) AND place IS NOT NULL`;
  await transaction.raw(sql, [earlier, recipients, place, ...some]);
}

/** Leaves the columns about the person alone: a recipient that was erased meanwhile stays erased. */
async function putOutcomes(jobs: readonly NotedJob[], { transaction, suffix }: ProjectionTarget): Promise<void> {
  await putRows<RecipientRow>(transaction, {
    table: recipientTables(suffix).recipients,
    columns,
    rows: jobs.flatMap((job) =>
      [...job.notes.standing]
        .filter(([recipient]) => job.hasRow[recipient] === 1)
        .map(([recipient, outcome]) => toRecipientRow(job, recipient, null, outcome)),
    ),
    put: outcomeColumns,
  });
}

async function insertNew(jobs: readonly NotedJob[], target: ProjectionTarget): Promise<void> {
  const withNew = jobs.map((job) => ({ ...job, added: withoutRow(job) })).filter(({ added }) => added.length > 0);
  const writer = openInsert<RecipientRow>(target.transaction, {
    table: recipientTables(target.suffix).recipients,
    columns,
  });
  for await (const { job, content } of readContents(withNew, target)) {
    await writer.add(newRows(job, content));
  }
  await writer.end();
}

/** Those who get a row with this batch. */
function withoutRow({ hasRow, notes: { standing, isClosed } }: NotedJob): readonly number[] {
  const candidates = isClosed ? [...hasRow.keys()] : [...standing.keys()];
  return candidates.filter((recipient) => hasRow[recipient] === 0);
}

function* newRows(
  job: NotedJob & { readonly added: readonly number[] },
  content: JobContent | null,
): Generator<RecipientRow> {
  for (const recipient of job.added) {
    job.hasRow[recipient] = 1;
    const email = content?.recipients[recipient]?.email ?? null;
    yield toRecipientRow(job, recipient, email, job.notes.standing.get(recipient) ?? null);
  }
}
