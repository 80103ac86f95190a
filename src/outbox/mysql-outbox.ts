import type { Knex } from "knex";
import { asBinding, inTransaction } from "../database/database.ts";
import { leaseOfAttempt, type Outbox, type OutboxGauge, type RowResult, type Share, type TakenRow } from "./outbox.ts";
import type { EndedRows } from "./row-retention.ts";

type DueRow = Omit<TakenRow, "request">;

/** All times are the database's: it sets `next_retry_at` of a new row, and clocks differ. */
const now = "CURRENT_TIMESTAMP(3)";
const isDue = `(next_retry_at IS NULL OR next_retry_at <= ${now})`;

/** The table `outbox`, on MySQL and MariaDB. */
export const createMysqlOutbox = (db: Knex): Outbox => ({
  waiting: createTurns(db),

  take: (tenants, { rows, bytes, bytesOfRow }) =>
    unchecked(db, async (transaction) => {
      const limit = Math.ceil(rows / tenants.length);
      const share = { rows: limit, bytes: bytes / tenants.length, bytesOfRow };
      const due: DueRow[] = [];
      let hasMore = false;
      for (const tenant of tenants) {
        const locked = await lockDue(transaction, tenant, limit);
        const some = withinShare(locked, share);
        hasMore ||= some.length === limit || some.length < locked.length;
        due.push(...some);
      }
      const requests = await readRequests(transaction, due, bytesOfRow);
      await lease(transaction, due);
      const taken = due.map((row) => ({ ...row, attempts: row.attempts + 1, request: requests.get(row.id) ?? null }));
      return { rows: taken, hasMore };
    }),

  settle: (results) =>
    unchecked(db, async (transaction) => {
      await settleProcessed(transaction, results);
      for (const { row, ...result } of results) {
        const mine = transaction("outbox").where({ id: row.id, status: "pending", attempts: row.attempts });
        if (result.outcome === "failed") {
          await mine.update({ status: "failed", next_retry_at: null, response: JSON.stringify(result.problem) });
        }
        if (result.outcome === "later") await mine.update({ next_retry_at: inMs(transaction, result.delayMs) });
      }
    }),
});

/**
 * Goes around the tenants by name, with one index lookup for each tenant that has waiting rows, however many it has.
 * Grouping them in one statement makes both servers read every row of a backlog.
 */
function createTurns(db: Knex): Outbox["waiting"] {
  let last: string | null = null;
  return async (atMost) => {
    const seen = new Set<string>();
    const due: string[] = [];
    let isFirstRound = last !== null;
    for (let after = last; due.length < atMost; ) {
      const next: WaitingTenant | null = await firstAfter(db, after);
      if (next === null && !isFirstRound) break;
      if (next === null) {
        isFirstRound = false;
        after = null;
        continue;
      }
      if (seen.has(next.tenant)) break;
      seen.add(next.tenant);
      if (next.is_due) due.push(next.tenant);
      after = next.tenant;
    }
    last = due.at(-1) ?? null;
    return due;
  };
}

type WaitingTenant = { readonly tenant: string; readonly is_due: number };

/**
 * The next tenant by name that has a waiting row, and whether the first of those rows is due; the first of all after null: an
 * application may have written an empty name.
 */
async function firstAfter(db: Knex, tenant: string | null): Promise<WaitingTenant | null> {
  const pending = db("outbox").where("status", "pending");
  const [first]: WaitingTenant[] = await (tenant === null ? pending : pending.andWhere("tenant", ">", tenant))
    .select("tenant", db.raw(`${isDue} AS is_due`))
    .orderBy([{ column: "tenant" }, { column: "next_retry_at" }])
    .limit(1);
  return first ?? null;
}

/**
 * MariaDB stores JSON as text with a check constraint, which a session can turn off. A row that was inserted that way
 * could not be updated at all, not even to store what is wrong with it, and would block all others. MySQL reads the
 * statement as a comment. A transaction that fails leaves the check off, but the statements of this service only ever
 * write JSON.
 */
const unchecked = <Result>(db: Knex, work: (transaction: Knex.Transaction) => Promise<Result>): Promise<Result> =>
  inTransaction(db, async (transaction) => {
    const setChecks = (setting: "ON" | "OFF") =>
      transaction.raw(`SET @waybill = NULL /*M!, SESSION check_constraint_checks = ${setting} */`);
    await setChecks("OFF");
    const result = await work(transaction);
    await setChecks("ON");
    return result;
  });

const inMs = (db: Knex, delayMs: number): Knex.Raw => db.raw(`${now} + INTERVAL ? MICROSECOND`, [delayMs * 1000]);

const lockDue = async (transaction: Knex.Transaction, tenant: string, limit: number): Promise<DueRow[]> =>
  await transaction("outbox")
    .select("id", "tenant", "attempts", transaction.raw("OCTET_LENGTH(request) AS bytes"))
    .where({ status: "pending", tenant })
    .andWhereRaw(isDue)
    .orderBy("next_retry_at")
    .limit(limit)
    .forUpdate()
    .skipLocked();

/** As many rows as fit, and at least one. The lock on the others ends with the transaction. */
function withinShare(rows: readonly DueRow[], { bytes, bytesOfRow }: Share): readonly DueRow[] {
  let left = bytes;
  return rows.filter((row, index) => {
    left -= row.bytes > bytesOfRow ? 0 : row.bytes;
    return index === 0 || left >= 0;
  });
}

/** Cast to text: some servers return JSON as text, others as parsed values. */
async function readRequests(
  transaction: Knex.Transaction,
  rows: readonly DueRow[],
  bytesOfRow: number,
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.filter(({ bytes }) => bytes <= bytesOfRow).map(({ id }) => id);
  const found: { id: string; text: string }[] = await transaction("outbox")
    .select("id", transaction.raw("CAST(request AS CHAR) AS text"))
    .whereIn("id", ids);
  return new Map(found.map(({ id, text }) => [id, text]));
}

async function lease(transaction: Knex.Transaction, rows: readonly DueRow[]): Promise<void> {
  for (const [attempts, ids] of byAttempts(rows)) {
    await transaction("outbox")
      .whereIn("id", ids)
      .update({ attempts: attempts + 1, next_retry_at: inMs(transaction, leaseOfAttempt(attempts + 1)) });
  }
}

function byAttempts(rows: readonly DueRow[]): ReadonlyMap<number, readonly string[]> {
  const ids = new Map<number, string[]>();
  for (const { id, attempts } of rows) ids.set(attempts, [...(ids.get(attempts) ?? []), id]);
  return ids;
}

/** All in one statement. A row that another relay has given up meanwhile still has its job. */
async function settleProcessed(transaction: Knex.Transaction, results: readonly RowResult[]): Promise<void> {
  const responses = results.flatMap((result) =>
    result.outcome === "processed" ? [[result.row.id, JSON.stringify(result.response)] as const] : [],
  );
  if (responses.length === 0) return;
  await transaction.raw(
    `UPDATE outbox
        SET status = 'processed', next_retry_at = NULL, response = CASE id ${"WHEN ? THEN ? ".repeat(responses.length)}END
      WHERE id IN (?) AND status <> 'processed'`,
    [...responses.flat(), asBinding(responses.map(([id]) => id))],
  );
}

/** Uses the clock of the database, which sets the time of each row. */
export const createMysqlEndedRows = (db: Knex): EndedRows => ({
  remove: async (olderThanMs, limit) => {
    // Selected first and deleted by key, so that only the deleted rows are locked.
    const ids: string[] = await db("outbox")
      .whereIn("status", ["processed", "failed"])
      .andWhereRaw("created_at < CURRENT_TIMESTAMP(3) - INTERVAL ? MICROSECOND", [olderThanMs * 1000])
      .limit(limit)
      .pluck("id");
    if (ids.length === 0) return 0;
    // An application may have set a row back to pending meanwhile, to have it tried again.
    return await db("outbox").whereIn("id", ids).whereNot("status", "pending").delete();
  },
});

/** Bounds the cost of each scrape of the metrics, however many rows there are. */
const mostCounted = 100_000;

const backlog = `
  SELECT
    (SELECT COUNT(*) FROM (SELECT 1 FROM outbox WHERE status = 'pending' LIMIT ${mostCounted}) AS waiting) AS \`rows\`,
    (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(created_at), CURRENT_TIMESTAMP(3))
       FROM outbox WHERE status = 'pending') AS age`;

/** Uses the clock of the database, which sets the time of each row. */
export const createMysqlOutboxGauge = (db: Knex): OutboxGauge => ({
  backlog: async () => {
    const [[found]] = (await db.raw(backlog)) as [[{ rows: number; age: number | null }]];
    return { rows: Number(found.rows), oldestAgeSeconds: Math.max(0, Number(found.age ?? 0) / 1_000_000) };
  },
});
