import type { Knex } from "knex";
import { feedbackBit } from "../../../src/domain/recipients/feedback.ts";
import { type RecipientFilter, recipientStatusOf } from "../../../src/domain/recipients/recipient-status.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { lastPlaceOf } from "../../../src/event-log/place.ts";
import { toInstant } from "../../instants.ts";
import { cellsIn } from "../stored-cells.ts";
import { jobTables } from "../tables.ts";
import { holdsOutcome, type PastOutcome, toHistory } from "./history.ts";
import { type KnownRecipient, type RecipientRecord, toRecipientRecord } from "./records.ts";
import { addressKeyOf, type EarlierRow, outcomeColumns, type RecipientRow } from "./rows.ts";

export type RecipientListOptions = {
  /** None means any. */
  readonly statuses: readonly RecipientFilter[];
  /** Part of the address, case-insensitive, or the whole in any spelling. */
  readonly email: string | null;
  /** From 1; ignored if there is a cursor. */
  readonly page: number;
  readonly pageSize: number;
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
};

type Page = {
  readonly recipients: readonly RecipientRecord[];
  readonly total: number;
  readonly nextCursor: string | null;
};

type FoundJob = {
  readonly place: number;
  readonly last_sequence: number;
  readonly run_began_at: Date;
  readonly cells: Buffer;
  readonly feedback: Buffer | null;
  /** Null once the content was erased. */
  readonly recipients: string | null;
};

const { jobs, ledgers, contents, recipients, earlier } = jobTables("");

/**
 * A page of the recipients of a job; null if there is no such job. The ledger and the content of the job name them all,
 * so they are filtered and counted here; what happened to them is read for the page only.
 */
export async function readRecipientsOf(db: Knex, job: JobRef, options: RecipientListOptions): Promise<Page | null> {
  const sql = `
    SELECT job.place, job.last_sequence, ledger.run_began_at, ledger.cells, ledger.feedback, content.recipients
    FROM ?? AS job JOIN ?? AS ledger ON ledger.job_id = job.id LEFT JOIN ?? AS content ON content.job_id = job.id
    WHERE job.id = ? AND job.tenant = ?`;
  const [[found]] = (await db.raw(sql, [jobs, ledgers, contents, job.jobId, job.tenant])) as [FoundJob[]];
  if (found === undefined) return null;
  const matching = knownIn(found).filter(filterOf(options));
  const { cursor, page, pageSize } = options;
  const from = cursor === null ? (page - 1) * pageSize : matching.findIndex(({ recipient }) => recipient > cursor);
  const known = from === -1 ? [] : matching.slice(from, from + pageSize);
  const histories = await readHistories(db, found, known);
  const isLast = from === -1 || from + pageSize >= matching.length;
  return {
    recipients: known.map((one) => toRecipientRecord(one, histories.get(one.recipient) ?? [])),
    total: matching.length,
    nextCursor: isLast ? null : String(known.at(-1)?.recipient),
  };
}

type FilteredRecipient = KnownRecipient & { readonly feedback: number };

function knownIn({ cells, feedback, recipients, run_began_at }: FoundJob): readonly FilteredRecipient[] {
  const addresses: readonly (string | null)[] = recipients === null ? [] : JSON.parse(recipients);
  const runBeganAt = toInstant(run_began_at);
  return Array.from(cellsIn(cells), (value, recipient) => ({
    recipient,
    email: addresses[recipient] ?? null,
    status: recipientStatusOf(value),
    feedback: feedback?.[recipient] ?? 0,
    runBeganAt,
  }));
}

function filterOf({ statuses, email }: RecipientListOptions): (known: FilteredRecipient) => boolean {
  const isNamed = email === null ? () => true : namedBy(email);
  const isWanted = ({ status, feedback }: FilteredRecipient): boolean =>
    statuses.length === 0 ||
    statuses.includes(status) ||
    (statuses.includes("bounced") && (feedback & feedbackBit.bounced) !== 0) ||
    (statuses.includes("complained") && (feedback & feedbackBit.complained) !== 0);
  return (known) => isWanted(known) && isNamed(known);
}

function namedBy(text: string): (known: FilteredRecipient) => boolean {
  const [part, key] = [text.toLowerCase(), addressKeyOf(text)];
  return ({ email }) => email !== null && (email.toLowerCase().includes(part) || addressKeyOf(email) === key);
}

async function readHistories(
  db: Knex,
  { place, last_sequence }: FoundJob,
  known: readonly KnownRecipient[],
): Promise<ReadonlyMap<number, readonly PastOutcome[]>> {
  const [first, last] = [known.at(0), known.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const columns = ["recipient", ...outcomeColumns];
  const ofPage = (table: string) =>
    db(table)
      .where({ job: place })
      .whereBetween("recipient", [first.recipient, last.recipient])
      // What is newer than the ledger would contradict the status.
      .andWhere("place", "<=", lastPlaceOf(Number(last_sequence)));
  // In this order: an outcome that becomes an earlier one in between is then found twice, and not missed.
  const rows: Pick<RecipientRow, (typeof outcomeColumns)[number] | "recipient">[] =
    await ofPage(recipients).select(columns);
  const before: EarlierRow[] = await ofPage(earlier).select([...columns, "counts"]);
  const standing = rows.filter(holdsOutcome).map((row) => ({ ...row, counts: 1 as const }));
  const byRecipient = new Map<number, (typeof before | typeof standing)[number][]>();
  for (const row of [...before, ...standing]) {
    const some = byRecipient.get(row.recipient);
    if (some === undefined) byRecipient.set(row.recipient, [row]);
    else some.push(row);
  }
  return new Map([...byRecipient].map(([recipient, some]) => [recipient, toHistory(some)]));
}
