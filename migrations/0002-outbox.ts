import type { Knex } from "knex";

/**
 * Applications insert jobs here in transactions of their own: `INSERT INTO outbox (id, request) VALUES (…)` is all they
 * have to know. The columns are TIMESTAMP and not DATETIME, because the sessions of applications have their own time
 * zones, and defaults are taken from the clock of the session. `next_retry_at` is the time of the next look at the row:
 * null once it has ended, and null before that means at once.
 *
 * The key has the tenant before the time, so that one tenant's backlog does not block the rows of all others.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE IF NOT EXISTS outbox (
      id CHAR(36) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
      tenant VARCHAR(64) NOT NULL DEFAULT 'default',
      request JSON NOT NULL,
      status ENUM('pending', 'processed', 'failed') NOT NULL DEFAULT 'pending',
      attempts INT NOT NULL DEFAULT 0,
      next_retry_at TIMESTAMP(3) NULL DEFAULT CURRENT_TIMESTAMP(3),
      response JSON NULL,
      created_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      PRIMARY KEY (id),
      KEY by_turn (status, tenant, next_retry_at)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("DROP TABLE IF EXISTS outbox");
}
