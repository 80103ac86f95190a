import type { Knex } from "knex";
import { likeSpellings } from "../../../src/database/spellings.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { toDate, toInstant } from "../../instants.ts";
import { jobTables } from "../tables.ts";
import { openStatuses, patternsIn } from "./of-address.ts";
import { type RecipientListOptions, readRecipientsOf } from "./of-job.ts";
import type { RecipientRecord } from "./records.ts";
import { addressKeyOf } from "./rows.ts";

/** A recipient of a mailing, by its place in the part that it belongs to. */
export type MailingRecipient = RecipientRecord & { readonly jobId: string };

/** The last recipient of a page. Its part is named by what the parts are ordered by, as it may be erased meanwhile. */
export type MailingRecipientCursor = {
  readonly madeAt: string;
  readonly jobId: string;
  readonly recipient: number;
};

export type MailingRecipientOptions = Pick<RecipientListOptions, "statuses" | "pageSize"> & {
  /** The whole address, in any spelling. */
  readonly email: string | null;
  readonly cursor: MailingRecipientCursor | null;
};

export type MailingRecipientPage = {
  readonly recipients: readonly MailingRecipient[];
  /** Null after the last. */
  readonly next: MailingRecipientCursor | null;
};

type PartRow = { readonly id: string; readonly created_at: Date };
type Part = { readonly jobId: string; readonly madeAt: string };

/** Each is read by itself. A page that would need more is shorter than it was asked for. */
const partsOfPage = 50;

const { jobs, contents, recipients } = jobTables("");

/**
 * A page of the recipients of those parts of a mailing that are jobs, part by part in the order in which they were made. A
 * page reads its own parts and no others, however many there are: the parts come from the index in their order, and the
 * counters of a part say whether it has a recipient of a status at all.
 */
export async function readRecipientsOfMailing(
  db: Knex,
  mailing: JobRef,
  options: MailingRecipientOptions,
): Promise<MailingRecipientPage> {
  const { statuses, email, pageSize, cursor } = options;
  const parts = email === null ? await readParts(db, mailing, options) : await partsWith(db, mailing, email, cursor);
  const found: MailingRecipient[] = [];
  const toCursor = ({ madeAt, jobId }: Part, recipient: number) => ({ madeAt, jobId, recipient });
  let next: MailingRecipientCursor | null = null;
  for (const part of parts.slice(0, partsOfPage)) {
    if (found.length === pageSize) return { recipients: found, next };
    const { jobId } = part;
    const page = await readRecipientsOf(
      db,
      { tenant: mailing.tenant, jobId },
      {
        statuses,
        email,
        page: 1,
        pageSize: pageSize - found.length,
        cursor: jobId === cursor?.jobId ? cursor.recipient : null,
      },
    );
    for (const one of page?.recipients ?? []) if (isWanted(one, email)) found.push({ jobId, ...one });
    next = toCursor(part, page?.recipients.at(-1)?.recipient ?? Number.MAX_SAFE_INTEGER);
    if ((page?.nextCursor ?? null) !== null) return { recipients: found, next };
  }
  return { recipients: found, next: parts.length > partsOfPage ? next : null };
}

/** A job is asked for a part of an address. */
const isWanted = (one: RecipientRecord, email: string | null): boolean =>
  email === null || (one.email !== null && addressKeyOf(one.email) === addressKeyOf(email));

async function readParts(
  db: Knex,
  { tenant, jobId }: JobRef,
  { statuses, cursor }: MailingRecipientOptions,
): Promise<readonly Part[]> {
  const later = cursor === null ? "" : "AND created_at >= ? AND (created_at > ? OR id >= ?)";
  const any = statuses.length === 0 ? "" : `AND (${statuses.map((status) => `\`${status}\` > 0`).join(" OR ")})`;
  const sql = `
    SELECT id, created_at FROM ?? FORCE INDEX (by_mailing) WHERE tenant = ? AND mailing_id = ? ${later} ${any}
    ORDER BY created_at, id LIMIT ?`;
  const after = cursor === null ? [] : [toDate(cursor.madeAt), toDate(cursor.madeAt), cursor.jobId];
  const [rows] = (await db.raw(sql, [jobs, tenant, jobId, ...after, partsOfPage + 1])) as [PartRow[]];
  return rows.map(toPart);
}

/** The parts that hold an address: as jobs that have not ended may, and as rows of those that were tried do. */
async function partsWith(
  db: Knex,
  { tenant, jobId }: JobRef,
  email: string,
  cursor: MailingRecipientCursor | null,
): Promise<readonly Part[]> {
  const untried = `
    SELECT job.id, job.created_at FROM ?? AS job FORCE INDEX (by_status_and_creation)
      STRAIGHT_JOIN ?? AS content ON content.job_id = job.id
    WHERE job.tenant = ? AND job.status IN (${openStatuses.map(() => "?").join(", ")}) AND job.mailing_id = ?
      AND ${likeSpellings("content.recipients", "LOWER(content.recipients)")}`;
  const tried = `
    SELECT DISTINCT job.id, job.created_at FROM ?? AS r FORCE INDEX (by_address) STRAIGHT_JOIN ?? AS job ON job.place = r.job
    WHERE r.tenant = ? AND r.address = ? AND job.mailing_id = ?`;
  // In this order: a part that ends in between is then found twice, and not missed.
  const open = [jobs, contents, tenant, ...openStatuses, jobId, ...patternsIn(email)];
  const [untriedRows] = (await db.raw(untried, open)) as [PartRow[]];
  const [triedRows] = (await db.raw(tried, [recipients, jobs, tenant, addressKeyOf(email), jobId])) as [PartRow[]];
  const byId = new Map([...untriedRows, ...triedRows].map((row) => [row.id, toPart(row)]));
  const keyOf = (part: Part): string => `${part.madeAt} ${part.jobId}`;
  return [...byId.values()]
    .filter((part) => cursor === null || keyOf(part) >= keyOf(cursor))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

const toPart = ({ id, created_at }: PartRow): Part => ({ jobId: id, madeAt: toInstant(created_at) });
