import type { Knex } from "knex";
import type { MailingRecord } from "../../../src/domain/mailing/mailing-record.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { readCheckpoint } from "../../following/checkpoint.ts";
import { onReadableRows } from "../../following/readable-rows.ts";
import { jobsProjector } from "../projector.ts";
import { type MailingRow, mailingTables, toMailingRecord } from "./rows.ts";

export type MailingListOptions = {
  /** From 1; ignored if there is a cursor. */
  readonly page: number;
  readonly pageSize: number;
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
};

export type MailingList = {
  readonly readSequence: number;
  /** The newest first. */
  readonly mailings: readonly MailingRecord[];
  readonly total: number;
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type MailingQueries = {
  find(mailing: JobRef): Promise<{ readonly readSequence: number; readonly mailing: MailingRecord | null }>;
  list(tenant: string, options: MailingListOptions): Promise<MailingList>;
  /** What people call these mailings; those that are not there (any more) are missing. */
  names(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamesOfMailing>>;
  /** Of all tenants: mailings that stopped by themselves, and that nobody has resumed or cancelled since. */
  countStopped(): Promise<number>;
  /** Those that were started and have not ended, scheduled and paused ones included. */
  countOpen(tenant: string): Promise<{ readonly ofTenant: number; readonly ofAll: number }>;
  /** Those of a tenant that have parts which are no jobs, and of which jobs may be made, or were to be made. */
  withUnmade(tenant: string): Promise<{ readonly readSequence: number; readonly mailingIds: readonly string[] }>;
};

export type NamesOfMailing = Pick<MailingRecord, "name" | "subject">;

const { mailings: table } = mailingTables("");

export const createMailingQueries = (db: Knex): MailingQueries =>
  onReadableRows(db, jobsProjector, {
    find: async ({ tenant, jobId }) => {
      // Reads the checkpoint first: the row is then at least as new as it.
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const row = await db<MailingRow>(table).where({ id: jobId, tenant }).first();
      return { readSequence: checkpoint?.sequence ?? 0, mailing: row === undefined ? null : toMailingRecord(row) };
    },
    list: async (tenant, { page, pageSize, cursor }) => {
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const found: MailingRow[] = await db<MailingRow>(table)
        .where({ tenant })
        .andWhere("place", "<", cursor ?? Number.MAX_SAFE_INTEGER)
        .orderBy("place", "desc")
        .offset(cursor === null ? (page - 1) * pageSize : 0)
        .limit(pageSize + 1);
      const total = await countIn(db(table).where({ tenant }));
      const rows = found.slice(0, pageSize);
      const last = found.length > pageSize ? rows.at(-1) : undefined;
      return {
        readSequence: checkpoint?.sequence ?? 0,
        mailings: rows.map(toMailingRecord),
        total,
        nextCursor: last === undefined ? null : String(last.place),
      };
    },
    names: async (tenant, ids) => {
      const rows: readonly (NamesOfMailing & { readonly id: string })[] = await db(table)
        .select("id", "name", "subject")
        .where({ tenant })
        .whereIn("id", [...ids]);
      return new Map(rows.map(({ id, name, subject }) => [id, { name, subject }]));
    },
    countStopped: () => countIn(db(table).whereNotNull("stopped_at")),
    countOpen: async (tenant) => {
      const open = () => db(table).whereNull("resting_since");
      const [ofTenant, ofAll] = await Promise.all([countIn(open().andWhere({ tenant })), countIn(open())]);
      return { ofTenant, ofAll };
    },
    withUnmade: async (tenant) => {
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const rows: Pick<MailingRow, "id">[] = await db<MailingRow>(table)
        .where({ tenant })
        .andWhereRaw("made < parts")
        .orderBy("place")
        .select("id");
      return { readSequence: checkpoint?.sequence ?? 0, mailingIds: rows.map(({ id }) => id) };
    },
  });

/** The driver returns large numbers as text. */
async function countIn(found: Knex.QueryBuilder): Promise<number> {
  const [counted] = await found.count<{ mailings: number | string }[]>({ mailings: "*" });
  return Number(counted?.mailings ?? 0);
}
