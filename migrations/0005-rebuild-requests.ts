import type { Knex } from "knex";

/**
 * The requested rebuilds of read models, until they are done. They are not a column of `projections`, because each
 * projection overwrites its row there, also a projection of an earlier release. A row with an error was tried, and
 * waiting does not help.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE IF NOT EXISTS rebuild_requests (
      projection VARCHAR(64) NOT NULL,
      requested_at DATETIME(3) NOT NULL,
      requested_by VARCHAR(255) NOT NULL,
      error TEXT NULL,
      PRIMARY KEY (projection)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("DROP TABLE IF EXISTS rebuild_requests");
}
