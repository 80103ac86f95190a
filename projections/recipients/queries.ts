import type { Knex } from "knex";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { recipientsProjector } from "./projector.ts";
import {
  type LedgerEntry,
  type LedgerEntryRow,
  type RecipientRecord,
  toLedgerEntry,
  toRecipientRecord,
} from "./records.ts";
import { addressKeyOf, type RecipientRow, recipientTables } from "./rows.ts";

export type RecipientListOptions = {
  /** None means any. */
  readonly statuses: readonly RecipientRecord["status"][];
  /** Part of the address, case-insensitive. */
  readonly email: string | null;
  /** From 1; ignored if there is a cursor. */
  readonly page: number;
  readonly pageSize: number;
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
};

export type RecipientList = {
  readonly readSequence: number;
  /** In the order of the job's request. */
  readonly recipients: readonly RecipientRecord[];
  readonly total: number;
  /** Null after the last. */
  readonly nextCursor: string | null;
};

/** The last entry of a page: the next page begins after it, whatever was added in between. */
export type LedgerCursor = { readonly sequence: number; readonly recipient: number };

export type LedgerPage = {
  readonly readSequence: number;
  /** The newest mailing first. */
  readonly entries: readonly LedgerEntry[];
  /** Null after the last. */
  readonly next: LedgerCursor | null;
};

/** Every query is for one tenant: jobs of other tenants do not exist for it. */
export type RecipientQueries = {
  /** `list` is null if no such job was projected yet. */
  ofJob(
    job: JobRef,
    options: RecipientListOptions,
  ): Promise<{ readonly readSequence: number; readonly list: RecipientList | null }>;
  /** Everything meant for one address, case-insensitive, over all jobs. */
  ofAddress(
    tenant: string,
    address: string,
    options: { readonly cursor: LedgerCursor | null; readonly limit: number },
  ): Promise<LedgerPage>;
};

export const createRecipientQueries = (db: Knex): RecipientQueries =>
  onReadableRows(db, recipientsProjector, {
    ofJob: (job, options) => ofJob(db, job, options),
    ofAddress: (tenant, address, options) => ofAddress(db, tenant, address, options),
  });

const tables = recipientTables("");

/** Reads the checkpoint first: the rows are then at least as new as it. */
const readSequenceOf = async (db: Knex): Promise<number> => (await readCheckpoint(db, "recipients"))?.sequence ?? 0;

async function ofJob(db: Knex, job: JobRef, options: RecipientListOptions): ReturnType<RecipientQueries["ofJob"]> {
  const readSequence = await readSequenceOf(db);
  const known = await db(tables.jobs).where({ job_id: job.jobId, tenant: job.tenant }).first("sequence");
  if (known === undefined) return { readSequence, list: null };
  const { sql, bindings } = filterOf(options);
  // A job has at most a thousand rows, stored side by side: filtering and counting them needs no index.
  const matching = () =>
    db(tables.recipients).where({ sequence: known.sequence, tenant: job.tenant }).whereRaw(sql, bindings);
  const { cursor, page, pageSize } = options;
  const counted = await matching().count({ total: "*" }).first();
  const found: RecipientRow[] = await matching()
    .andWhere("recipient", ">", cursor ?? -1)
    .orderBy("recipient")
    .limit(pageSize + 1)
    .offset(cursor === null ? (page - 1) * pageSize : 0);
  const recipients = found.slice(0, pageSize).map(toRecipientRecord);
  const last = found.length > pageSize ? recipients.at(-1) : undefined;
  const nextCursor = last === undefined ? null : String(last.recipient);
  return { readSequence, list: { readSequence, recipients, total: Number(counted?.total ?? 0), nextCursor } };
}

function filterOf({ statuses, email }: RecipientListOptions) {
  const ofStatus = statuses.length === 0 ? [] : [`status IN (${statuses.map(() => "?").join(", ")})`];
  const ofAddress = email === null ? [] : ["email LIKE ? ESCAPE '!'"];
  const sql = ["TRUE", ...ofStatus, ...ofAddress].join(" AND ");
  return { sql, bindings: [...statuses, ...(email === null ? [] : [containing(email)])] };
}

const containing = (text: string): string => `%${text.replace(/[!%_]/g, "!$&")}%`;

/**
 * The index holds the entries in the order of the answer, so a page reads as many entries as it shows, however many
 * mailings the address has. Both the index and the order of the join are named, so that no statistics decide otherwise.
 */
async function ofAddress(
  db: Knex,
  tenant: string,
  address: string,
  { cursor, limit }: { readonly cursor: LedgerCursor | null; readonly limit: number },
): Promise<LedgerPage> {
  const readSequence = await readSequenceOf(db);
  const after = cursor === null ? "" : "AND r.sequence <= ? AND (r.sequence < ? OR r.recipient < ?)";
  const sql = `
    SELECT job.job_id, r.recipient, r.sequence, r.email, r.status, r.history, r.updated_at,
      job.type, job.name, job.subject, job.created_at
    FROM ?? AS r FORCE INDEX (by_address) STRAIGHT_JOIN ?? AS job ON job.sequence = r.sequence
    WHERE r.tenant = ? AND r.address = ? ${after}
    ORDER BY r.sequence DESC, r.recipient DESC LIMIT ?`;
  const place = cursor === null ? [] : [cursor.sequence, cursor.sequence, cursor.recipient];
  const bindings = [tables.recipients, tables.jobs, tenant, addressKeyOf(address), ...place, limit + 1];
  const [rows] = (await db.raw(sql, bindings)) as [LedgerEntryRow[]];
  const entries = rows.slice(0, limit);
  const last = rows.length > limit ? entries.at(-1) : undefined;
  return {
    readSequence,
    entries: entries.map(toLedgerEntry),
    next: last === undefined ? null : { sequence: Number(last.sequence), recipient: last.recipient },
  };
}
