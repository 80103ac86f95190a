import type { Knex } from "knex";

/**
 * The last seal that was seen in each log. This is no read model: its purpose is to contradict a log that was restored
 * to an earlier state.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE IF NOT EXISTS remembered_seals (
      log VARCHAR(64) NOT NULL,
      sequence BIGINT NOT NULL,
      digest CHAR(64) NOT NULL,
      PRIMARY KEY (log)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("DROP TABLE IF EXISTS remembered_seals");
}
