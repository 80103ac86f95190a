import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import { addRows } from "../../src/database/write-rows.ts";
import { type DeadLetterStatus, deadLetterStatuses } from "../../src/domain/job/dead-letter.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { RowsOfBatch } from "../batch.ts";
import { toDate, toInstant } from "../instants.ts";
import { type CountRow, deadLetterTables, type LetterRow } from "./rows.ts";

/** Adds the difference between letters before and after a batch to the stored counts. */
export async function recount(
  transaction: Knex.Transaction,
  table: string,
  { before, after }: Awaited<ReturnType<RowsOfBatch<LetterRow>["write"]>>,
): Promise<void> {
  const changes = new Map<string, CountRow>();
  const add = ({ tenant, status, error_code, cause }: LetterRow, letters: 1 | -1): void => {
    const key = JSON.stringify([tenant, status, error_code, cause]);
    changes.set(key, { tenant, status, error_code, cause, letters: letters + (changes.get(key)?.letters ?? 0) });
  };
  for (const letter of before) add(letter, -1);
  for (const letter of after) add(letter, 1);
  const rows = [...changes.values()].filter(({ letters }) => letters !== 0);
  const columns = ["tenant", "status", "error_code", "cause", "letters"] as const;
  await addRows<CountRow>(transaction, { table, columns, summed: ["letters"], rows });
  for (const { letters, ...group } of rows) {
    if (letters < 0)
      await transaction(table)
        .where({ ...group, letters: 0 })
        .delete();
  }
}

const { letters, counts } = deadLetterTables("");

/** The letters of a reason that failed before a time; null fields are any. */
export type Counted = {
  readonly status: DeadLetterStatus | null;
  readonly code: string | null;
  readonly cause: string | null;
  readonly failedBefore: Instant;
};

/** Those of the stored counts without those that have failed since, which are few; null if they are more than `bound`. */
export async function countLetters(
  db: Knex,
  tenant: string,
  { status, code, cause, failedBefore }: Counted,
  bound: number,
): Promise<number | null> {
  const given = Object.entries({ status, error_code: code, cause }).filter(([, value]) => value !== null);
  const isOfReason = ["TRUE", ...given.map(([column]) => `${column} = ?`)].join(" AND ");
  const reason = given.map(([, value]) => value);
  const sql = `
    SELECT (SELECT COALESCE(SUM(letters), 0) FROM ?? WHERE tenant = ? AND ${isOfReason}) AS counted,
      COUNT(*) AS since, COALESCE(SUM(${isOfReason}), 0) AS matching
    FROM (SELECT status, error_code, cause FROM ?? FORCE INDEX (by_time)
      WHERE tenant = ? AND failed_at >= ? LIMIT ?) AS since`;
  const bindings = [counts, tenant, ...reason, ...reason, letters, tenant, toDate(failedBefore), bound + 1];
  const [[row]] = (await db.raw(sql, asBinding(bindings))) as [Readonly<Record<string, number | string>>[]];
  return Number(row?.["since"]) > bound ? null : Number(row?.["counted"]) - Number(row?.["matching"]);
}

type CauseRow = Pick<LetterRow, "error_code" | "cause"> & { readonly letters: number | string };

/** Dead letters that failed for the same reason. */
export type LettersOfCause = {
  readonly code: string;
  readonly cause: string;
  readonly letters: number;
  readonly newestFailedAt: Instant;
};

/** The most frequent first. */
export async function readCauses(
  db: Knex,
  tenant: string,
  status: DeadLetterStatus | null,
  most: number,
): Promise<readonly LettersOfCause[]> {
  const statuses = status === null ? deadLetterStatuses : [status];
  const sql = `
    SELECT error_code, cause, SUM(letters) AS letters FROM ?? WHERE tenant = ? AND status IN (?)
    GROUP BY error_code, cause ORDER BY letters DESC, error_code, cause LIMIT ?`;
  const [rows] = (await db.raw(sql, [counts, tenant, asBinding(statuses), most])) as [readonly CauseRow[]];
  const newest = await readNewest(db, tenant, statuses, rows);
  return rows.flatMap(({ error_code: code, cause, letters: some }, index) => {
    const failedAt = newest.get(index);
    // Decided about in between.
    return failedAt === undefined ? [] : [{ code, cause, letters: Number(some), newestFailedAt: toInstant(failedAt) }];
  });
}

/** By the place of the cause. Each is one entry of an index, with values in place of a join, for which MySQL reads them all. */
async function readNewest(
  db: Knex,
  tenant: string,
  statuses: readonly DeadLetterStatus[],
  causes: readonly CauseRow[],
): Promise<ReadonlyMap<number, Date>> {
  if (causes.length === 0) return new Map();
  const part = `
    (SELECT ? AS place, failed_at FROM ?? FORCE INDEX (by_cause)
    WHERE tenant = ? AND status = ? AND error_code = ? AND cause = ? ORDER BY sequence DESC LIMIT 1)`;
  const parts = causes.flatMap(({ error_code, cause }, place) =>
    statuses.map((status) => [place, letters, tenant, status, error_code, cause]),
  );
  const sql = parts.map(() => part).join(" UNION ALL ");
  const [rows] = (await db.raw(sql, parts.flat())) as [{ place: number; failed_at: Date }[]];
  const newest = new Map<number, Date>();
  for (const { place, failed_at: at } of rows) if (at > (newest.get(Number(place)) ?? 0)) newest.set(Number(place), at);
  return newest;
}
