import type { Knex } from "knex";

/** Larger numbers than a recursion may be deep: a thousand times a thousand. */
const numbers = (count: number, from = 0): string => `
  WITH RECURSIVE up AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 999)
  SELECT low.n + 1000 * high.n + ${from} AS n FROM up AS low JOIN up AS high ON high.n < ${Math.ceil((count - from) / 1000)}
  HAVING n < ${count}`;

/** A statement of more rows may take longer than the client waits for an answer, on a busy machine. */
const rowsOfStatement = 25_000;

const at = "TIMESTAMP('2020-01-01 00:00:00.000') + INTERVAL (n DIV 3) * 1000 MICROSECOND";

/** Every row stands before the whole log: its place is less than 0, and another for each job of the tenants in a test. */
const placeOfJob = (base: number, n: string): string => `-${base} * (1 + LENGTH(tenant)) - ${n}`;
const [ofLines, ofJobs] = [1_000_000_000, 100_000_000_000];

/**
 * Puts log lines straight into the read model, three for each millisecond from the beginning of 2020 on, and a job for
 * each thousand of them. Their sequences are from -count to -1.
 */
export async function insertLogLines(db: Knex, tenant: string, count: number): Promise<void> {
  await putJobs(db, tenant, Math.ceil(count / 1000), "CONCAT(tenant, '-job-', n)", ofLines);
  for (let from = 0; from < count; from += rowsOfStatement) {
    await putLogLines(db, tenant, count, { from, to: Math.min(count, from + rowsOfStatement) });
  }
}

async function putLogLines(
  db: Knex,
  tenant: string,
  count: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await db.raw(
    `INSERT INTO recipients (job, place, tenant, recipient, email, address, status, run, attempt, message_id, response, at)
     SELECT ${placeOfJob(ofLines, "n DIV 1000")}, (n - ${count}) * 64, tenant, n % 1000,
       CONCAT('person', n, '@example.com'), CONCAT('person', n, '@example.com'), 'success', 1, 1,
       CONCAT('<', SUBSTR(SHA2(n, 256), 1, 32), '@waybill.example>'),
       CONCAT('250 2.0.0 queued as ', SUBSTR(SHA2(n, 256), 1, 40)), ${at}
     FROM (${numbers(to, from)}) AS numbers CROSS JOIN (SELECT ? AS tenant) AS whose`,
    [tenant],
  );
}

/** Puts jobs straight into the read model, three for each millisecond from the beginning of 2020 on. */
export const insertJobs = (db: Knex, tenant: string, count: number): Promise<void> =>
  putJobs(db, tenant, count, "CONCAT('00000000-0000-4000-8000-', LPAD(n, 12, '0'))", ofJobs);

async function putJobs(db: Knex, tenant: string, count: number, id: string, base: number): Promise<void> {
  await db.raw(
    `INSERT INTO jobs (id, tenant, type, status, priority, name, subject, metadata, run, attempt, max_attempts,
       total, sent, failed, pending, deferred, \`unknown\`, suppressed, bounced, complained, duplicates, content_sha256, on_unknown, created_at,
       place, last_sequence, outcome_sequence)
     SELECT ${id}, tenant, 'email.send', 'completed', 'normal', NULL,
       CONCAT('Mailing ', n), '{"campaign":"11"}', 1, 1, 4, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, SHA2(n, 256), 'resend',
       ${at}, ${placeOfJob(base, "n")}, 0, 0
     FROM (${numbers(count)}) AS numbers CROSS JOIN (SELECT ? AS tenant) AS whose`,
    [tenant],
  );
}

/** Jobs that have not ended, each to the same addresses; none of them was tried. */
export async function insertOpenJobs(
  db: Knex,
  tenant: string,
  count: number,
  addresses: readonly string[],
): Promise<void> {
  await putJobs(db, tenant, count, "CONCAT('open-', tenant, n)", ofJobs);
  const those = "tenant = ? AND id LIKE 'open-%'";
  await db.raw(`UPDATE jobs SET status = 'processing' WHERE ${those}`, [tenant]);
  await db.raw(
    `INSERT INTO jobs_ledgers (job_id, tenant, run, run_began_at, cells)
     SELECT id, tenant, 1, created_at, REPEAT(CHAR(0), ?) FROM jobs WHERE ${those}`,
    [addresses.length, tenant],
  );
  await db.raw(
    `INSERT INTO jobs_content (job_id, tenant, body, text, recipients)
     SELECT id, tenant, 'Hello', NULL, ? FROM jobs WHERE ${those}`,
    [JSON.stringify(addresses), tenant],
  );
}
