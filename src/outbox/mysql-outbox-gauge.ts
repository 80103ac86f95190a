import type { Knex } from "knex";
import type { OutboxGauge } from "./outbox-gauge.ts";

/** It is asked whenever somebody looks at the metrics, and costs no more however many rows there are. */
const mostCounted = 100_000;

const backlog = `
  SELECT
    (SELECT COUNT(*) FROM (SELECT 1 FROM outbox WHERE status = 'pending' LIMIT ${mostCounted}) AS waiting) AS \`rows\`,
    (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(created_at), CURRENT_TIMESTAMP(3))
       FROM outbox WHERE status = 'pending') AS age`;

/** By the clock of the database, which has set the time of each row. */
export const createMysqlOutboxGauge = (db: Knex): OutboxGauge => ({
  backlog: async () => {
    const [[found]] = (await db.raw(backlog)) as [[{ rows: number; age: number | null }]];
    return { rows: Number(found.rows), oldestAgeSeconds: Math.max(0, Number(found.age ?? 0) / 1_000_000) };
  },
});
