import type { Knex } from "knex";
import { likeSpellings, patternsOf } from "../../../src/database/spellings.ts";
import { type JobStatus, jobStatuses } from "../../../src/domain/job/job-view.ts";
import { normalisedAddress } from "../../../src/domain/recipients/address.ts";
import { recipientStatusOf } from "../../../src/domain/recipients/recipient-status.ts";
import { toInstant } from "../../instants.ts";
import type { JobRow } from "../rows.ts";
import { cellsIn, rowsIn } from "../stored-cells.ts";
import { jobTables } from "../tables.ts";
import { holdsOutcome, toHistory } from "./history.ts";
import { type LedgerEntry, toLedgerEntry } from "./records.ts";
import { addressKeyOf, type EarlierRow, outcomeColumns, type RecipientRow } from "./rows.ts";

/** The last entry of a page: the next page begins after it, whatever was added in between. */
export type LedgerCursor = {
  /** The place of the job. */
  readonly job: number;
  readonly recipient: number;
};

type Person = { readonly tenant: string; readonly address: string };
type PageOptions = { readonly cursor: LedgerCursor | null; readonly limit: number };

/** An entry, and its place in the order of the list. */
type Placed = LedgerCursor & { readonly entry: LedgerEntry };

type JobColumns = Pick<JobRow, "type" | "name" | "subject" | "created_at"> & {
  readonly job_id: string;
  readonly run_began_at: Date;
};

const { jobs, ledgers, contents, recipients, earlier } = jobTables("");
const jobColumns = "job.id AS job_id, job.type, job.name, job.subject, job.created_at, ledger.run_began_at";

/**
 * A page of everything meant for an address, the newest mailing first: from the rows of those that were tried or whose
 * job has ended, and from the contents of the other jobs. Where these are very many, it may be short, or empty, and go on.
 */
export async function readEntriesOf(
  db: Knex,
  person: Person,
  options: PageOptions,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly next: LedgerCursor | null }> {
  // In this order: a recipient that gets a row in between is then found twice, and not missed.
  const { untried, downTo } = await readUntried(db, person, options);
  const tried = await readTried(db, person, options);
  const found = new Map([...untried, ...tried].map((placed) => [`${placed.job} ${placed.recipient}`, placed]));
  const placed = [...found.values()]
    .filter(({ job }) => downTo === null || job >= downTo)
    .sort((one, other) => other.job - one.job || other.recipient - one.recipient);
  const page = placed.slice(0, options.limit);
  const last = placed.length > options.limit ? page.at(-1) : undefined;
  const whereItEnds = downTo === null ? null : { job: downTo, recipient: 0 };
  return {
    entries: page.map(({ entry }) => entry),
    next: last === undefined ? whereItEnds : { job: last.job, recipient: last.recipient },
  };
}

type TriedRow = Omit<RecipientRow, "tenant" | "address"> & JobColumns & { readonly cell: Buffer };

const pageSql = (cursor: LedgerCursor | null): string => `
  SELECT r.* FROM ?? AS r FORCE INDEX (by_address)
  WHERE r.tenant = ? AND r.address = ? ${cursor === null ? "" : "AND r.job <= ? AND (r.job < ? OR r.recipient < ?)"}
  ORDER BY r.job DESC, r.recipient DESC LIMIT ?`;

/**
 * The index holds the entries in the order of the answer, so a page reads as many entries as it shows, however many
 * mailings the address has. Both the index and the order of the joins are named, so that no statistics decide otherwise.
 */
async function readTried(db: Knex, { tenant, address }: Person, { cursor, limit }: PageOptions): Promise<Placed[]> {
  const place = cursor === null ? [] : [cursor.job, cursor.job, cursor.recipient];
  const page = [recipients, tenant, addressKeyOf(address), ...place, limit + 1];
  const sql = `
    SELECT r.*, ${jobColumns}, SUBSTRING(ledger.cells, r.recipient + 1, 1) AS cell
    FROM (${pageSql(cursor)}) AS r STRAIGHT_JOIN ?? AS job ON job.place = r.job
      STRAIGHT_JOIN ?? AS ledger ON ledger.job_id = job.id`;
  const [rows] = (await db.raw(sql, [...page, jobs, ledgers])) as [TriedRow[]];
  // After the rows, as in readHistories.
  const before = await readEarlier(db, pageSql(cursor), page);
  return rows.map((row) => {
    const standing = holdsOutcome(row) ? [{ ...row, counts: 1 as const }] : [];
    const earlierOnes = before.filter(({ job, recipient }) => job === row.job && recipient === row.recipient);
    return toPlaced(Number(row.job), row, row.email, row.cell[0] ?? 0, toHistory([...earlierOnes, ...standing]));
  });
}

async function readEarlier(db: Knex, pageSql: string, page: readonly (string | number)[]): Promise<EarlierRow[]> {
  const columns = ["job", "recipient", ...outcomeColumns, "counts"].map((column) => `one.${column}`).join(", ");
  const sql = `
    SELECT ${columns} FROM (${pageSql}) AS r
      STRAIGHT_JOIN ?? AS one ON one.job = r.job AND one.recipient = r.recipient`;
  const [rows] = (await db.raw(sql, [...page, earlier])) as [EarlierRow[]];
  return rows;
}

/** Of jobs that have not ended. */
export const openStatuses: readonly JobStatus[] = jobStatuses.filter(
  (status) => status !== "completed" && status !== "failed" && status !== "cancelled",
);

type OpenJob = JobColumns & { readonly place: number; readonly cells: Buffer; readonly recipients: string };

/** So many open jobs are looked into at a time, each in 0.3 ms; a page goes no further once this took longer. */
const lookedInto = 2000;
const enoughMs = 1500;

/**
 * Looks into the contents of the jobs that have not ended, down to the job at a place, or all; loads no more of them
 * than a page shows: each may hold a thousand addresses. It loads on where the address was tried in some already, or they hold
 * another one that looks like it.
 */
async function readUntried(
  db: Knex,
  person: Person,
  { cursor, limit }: PageOptions,
): Promise<{ readonly untried: readonly Placed[]; readonly downTo: number | null }> {
  const key = addressKeyOf(person.address);
  // The page, one more, and the job that the page before has ended in.
  const atOnce = limit + 2;
  const untried: Placed[] = [];
  const begunAt = performance.now();
  let upTo = cursor?.job ?? Number.MAX_SAFE_INTEGER;
  for (let from = await placeBelow(db, person, upTo); ; ) {
    const rows = await readOpenJobs(db, person, { from, upTo }, atOnce);
    const found = rows.flatMap((row) => toUntried(row, key));
    untried.push(...found.filter((placed) => cursor === null || isAfter(placed, cursor)));
    if (untried.length > limit) return { untried, downTo: null };
    if (rows.length === atOnce) {
      upTo = Math.min(...rows.map(({ place }) => Number(place))) - 1;
      continue;
    }
    if (from === null || performance.now() - begunAt > enoughMs) return { untried, downTo: from };
    upTo = from - 1;
    from = await placeBelow(db, person, upTo);
  }
}

const openStatus = `status IN (${openStatuses.map(() => "?").join(", ")})`;

/** The place of the last open job that is looked into with those before it; null if there are not so many. */
async function placeBelow(db: Knex, { tenant }: Person, upTo: number): Promise<number | null> {
  const sql = `
    SELECT place FROM ?? FORCE INDEX (by_status_and_creation) WHERE tenant = ? AND ${openStatus} AND place <= ?
    ORDER BY place DESC LIMIT 1 OFFSET ${lookedInto - 1}`;
  const [rows] = (await db.raw(sql, [jobs, tenant, ...openStatuses, upTo])) as [{ readonly place: number }[]];
  return rows[0] === undefined ? null : Number(rows[0].place);
}

/** The newest jobs between two places that have not ended and may hold an address. */
async function readOpenJobs(
  db: Knex,
  { tenant, address }: Person,
  { from, upTo }: { readonly from: number | null; readonly upTo: number },
  limit: number,
): Promise<readonly OpenJob[]> {
  const sql = `
    SELECT job.place, ${jobColumns}, ledger.cells, content.recipients
    FROM (
      SELECT job.id FROM ?? AS job FORCE INDEX (by_status_and_creation)
        STRAIGHT_JOIN ?? AS content ON content.job_id = job.id
      WHERE job.tenant = ? AND job.${openStatus} AND job.place BETWEEN ? AND ?
        AND ${likeSpellings("content.recipients", "LOWER(content.recipients)")}
      ORDER BY job.place DESC LIMIT ?
    ) AS page STRAIGHT_JOIN ?? AS job ON job.id = page.id
      STRAIGHT_JOIN ?? AS content ON content.job_id = job.id STRAIGHT_JOIN ?? AS ledger ON ledger.job_id = job.id`;
  const page = [jobs, contents, tenant, ...openStatuses, from ?? Number.MIN_SAFE_INTEGER, upTo];
  const [rows] = (await db.raw(sql, [...page, ...patternsIn(address), limit, jobs, contents, ledgers])) as [OpenJob[]];
  return rows;
}

/** Of the recipients of jobs that hold the whole address, as JSON holds it; addressKeyOf then decides. */
export const patternsIn = (address: string): readonly [string, string] =>
  patternsOf(JSON.stringify(normalisedAddress(address)));

const isAfter = ({ job, recipient }: LedgerCursor, cursor: LedgerCursor): boolean =>
  job < cursor.job || (job === cursor.job && recipient < cursor.recipient);

function toUntried(row: OpenJob, key: string): readonly Placed[] {
  const addresses: readonly (string | null)[] = JSON.parse(row.recipients);
  const [cells, hasRow] = [cellsIn(row.cells), rowsIn(row.cells)];
  return addresses.flatMap((email, recipient) =>
    email === null || hasRow[recipient] === 1 || addressKeyOf(email) !== key
      ? []
      : [toPlaced(Number(row.place), { ...row, recipient }, email, cells[recipient] ?? 0, [])],
  );
}

function toPlaced(
  job: number,
  row: JobColumns & { readonly recipient: number },
  email: string | null,
  storedCell: number,
  history: LedgerEntry["history"],
): Placed {
  const { job_id: jobId, type, name, subject, recipient } = row;
  const [value = 0] = cellsIn(Uint8Array.of(storedCell));
  const known = { recipient, email, status: recipientStatusOf(value), runBeganAt: toInstant(row.run_began_at) };
  const entry = toLedgerEntry({ jobId, type, name, subject, createdAt: toInstant(row.created_at) }, known, history);
  return { job, recipient, entry };
}
