import type { Knex } from "knex";

/**
 * The state of each projection, for operators and for the projections themselves. The read models are not part of any
 * migration: every projection creates its own tables (see projections/rebuilding/table-set.ts).
 *
 * A statement that changes the schema cannot be rolled back, so an interrupted migration runs again from its start:
 * hence IF NOT EXISTS.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE IF NOT EXISTS projections (
      name VARCHAR(64) NOT NULL,
      version INT NOT NULL,
      status VARCHAR(16) NOT NULL,
      error TEXT NULL,
      stopped_at_sequence BIGINT NULL,
      updated_at DATETIME(3) NOT NULL,
      PRIMARY KEY (name)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw("DROP TABLE IF EXISTS projections");
}
