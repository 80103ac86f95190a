import type { Knex } from "knex";
import type { Statement } from "../../../src/database/prepared.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { lastPlaceOf, positionOf } from "../../../src/event-log/place.ts";
import { jobTables } from "../tables.ts";
import { type LogEntry, type LogRow, logColumns, toLogEntry } from "./log-rows.ts";
import type { LogStatus } from "./outcome-details.ts";
import { addressKeyOf } from "./rows.ts";

/** What happened to a recipient of a mailing, in the part that it belongs to. */
export type MailingLogEntry = LogEntry & { readonly jobId: string };

export type MailingLogOptions = {
  readonly status: LogStatus | null;
  /** The whole address, in any spelling. */
  readonly email: string | null;
  /** The place of an entry: the list begins after it. */
  readonly after: number | null;
  readonly limit: number;
};

export type MailingLogPage = {
  /** In the order of the log. */
  readonly entries: readonly MailingLogEntry[];
  /** The value of `after` for the next entries; null after the last. */
  readonly next: number | null;
};

/** `lastOutcome` is the sequence of its last outcome in `recipients`. */
type Part = { readonly id: string; readonly place: number; readonly lastOutcome: number };
type PartRow = Pick<Part, "id" | "place"> & { readonly outcome_sequence: number };
type PartLogRow = LogRow & { readonly job: number };

/** So many parts made later are looked into at a time: more than are mostly open together. */
const partsAtOnce = 24;
/** Looks of one page: where hardly a line is wanted, a page ends before it is full. */
const looksOfPage = 20;

const { jobs, recipients, earlier } = jobTables("");

/**
 * A page of what happened to the recipients of a mailing, merged from its parts in the order of the log. No index has this
 * order, and none is needed: nothing happens to the recipients of a part before the part was made, so the next lines are
 * in the parts that were made before and go on, and in the first of those made later, up to the place at which the next
 * one was made. A page takes as long as the parts have rows that went on at that time: where all parts of a large mailing
 * were run again much later, that is all parts made before the page. Where mails of them came back much later, it is what is
 * beside the last outcomes, which is little.
 *
 * `upTo` is what the rows have come to. What comes after it is on no page: it may come to one part between two statements, and
 * then to another that is read, and the next page would begin behind both.
 */
export async function readLogOfMailing(
  db: Knex,
  mailing: JobRef,
  options: MailingLogOptions & { readonly upTo: number },
): Promise<MailingLogPage> {
  const entries: MailingLogEntry[] = [];
  const present = lastPlaceOf(options.upTo) + 1;
  let from = options.after ?? 0;
  for (let look = 1; look <= looksOfPage; look += 1) {
    const parts = await readParts(db, mailing, options.email, from);
    const later = parts.filter(({ place }) => place > from);
    const end = Math.min(later[partsAtOnce]?.place ?? present, present);
    const some = parts.filter(({ place }) => place < end);
    if (some.length === 0) return { entries, next: null };
    const wanted = options.limit - entries.length;
    const rows = await readRows(db, some, { ...options, from, end, limit: wanted + 1 });
    const ids = new Map(some.map(({ id, place }) => [place, id]));
    for (const row of rows.slice(0, wanted)) {
      entries.push({ jobId: ids.get(Number(row.job)) ?? "", ...toLogEntry(row) });
    }
    if (rows.length > wanted) return { entries, next: Number(rows[wanted - 1]?.place ?? from) };
    if (end === present) return { entries, next: null };
    from = end - 1;
  }
  return { entries, next: from };
}

/** The parts to which something happened after a place, in the order in which they were made; of those made later, the first. */
async function readParts(
  db: Knex,
  { tenant, jobId }: JobRef,
  email: string | null,
  from: number,
): Promise<readonly Part[]> {
  const person =
    "AND place IN (SELECT r.job FROM ?? AS r FORCE INDEX (by_address) WHERE r.tenant = ? AND r.address = ?)";
  const goingOn = `
    SELECT id, place, outcome_sequence
    FROM ?? FORCE INDEX (by_mailing) WHERE tenant = ? AND mailing_id = ? AND last_sequence >= ?
      ${email === null ? "" : person}`;
  const ofPerson = email === null ? [] : [recipients, tenant, addressKeyOf(email)];
  const bindings = [jobs, tenant, jobId, positionOf(from).sequence, ...ofPerson];
  const sql = `(${goingOn} AND place <= ?) UNION ALL (${goingOn} AND place > ? ORDER BY place LIMIT ?) ORDER BY place`;
  const [rows] = (await db.raw(sql, [...bindings, from, ...bindings, from, partsAtOnce + 1])) as [PartRow[]];
  return rows.map(({ id, place, outcome_sequence }) => {
    return { id, place: Number(place), lastOutcome: Number(outcome_sequence) };
  });
}

type RowOptions = Pick<MailingLogOptions, "status" | "email" | "limit"> & {
  readonly from: number;
  readonly end: number;
};

/** One statement, because an outcome may move from one table to the other between two. */
async function readRows(db: Knex, parts: readonly Part[], options: RowOptions): Promise<readonly PartLogRow[]> {
  const goOn = parts.filter(({ lastOutcome }) => lastOutcome >= positionOf(options.from).sequence);
  const standing = partOf(goOn, options, `\`${recipients}\` AS outcome`, "outcome");
  const before = partOf(
    parts,
    options,
    `\`${earlier}\` AS outcome LEFT JOIN \`${recipients}\` AS recipient
      ON recipient.job = outcome.job AND recipient.recipient = outcome.recipient`,
    "recipient",
  );
  const both = {
    sql: `(${standing.sql}) UNION ALL (${before.sql}) ORDER BY place LIMIT ?`,
    bindings: [...standing.bindings, ...before.bindings, options.limit],
  };
  const { sql, bindings } = goOn.length === 0 ? before : both;
  const [rows] = (await db.raw(sql, bindings as Knex.RawBinding[])) as [PartLogRow[]];
  return rows;
}

function partOf(
  parts: readonly Part[],
  { status, email, from, end, limit }: RowOptions,
  tables: string,
  person: string,
): Statement {
  const filters = [
    ...(status === null ? [] : [{ sql: "AND outcome.status = ?", binding: status }]),
    ...(email === null ? [] : [{ sql: `AND ${person}.address = ?`, binding: addressKeyOf(email) }]),
  ];
  return {
    sql: `
      SELECT outcome.job, ${logColumns("outcome", person)} FROM ${tables}
      WHERE outcome.job IN (${parts.map(() => "?").join(", ")}) AND outcome.place > ? AND outcome.place < ?
        ${filters.map(({ sql }) => sql).join(" ")}
      ORDER BY outcome.place LIMIT ?`,
    bindings: [...parts.map(({ place }) => place), from, end, ...filters.map(({ binding }) => binding), limit],
  };
}
