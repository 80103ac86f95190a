import type { Knex } from "knex";

/** An index to find the rows that have ended by their age, and the age of the oldest waiting row. */
const index = "by_age";

/**
 * MySQL has no IF NOT EXISTS for an index: an interrupted migration finds it created. The table stays open meanwhile.
 */
export async function up(knex: Knex): Promise<void> {
  if (await isThere(knex)) return;
  await knex.raw(`ALTER TABLE outbox ADD KEY ${index} (status, created_at)`);
}

export async function down(knex: Knex): Promise<void> {
  if (await isThere(knex)) await knex.raw(`ALTER TABLE outbox DROP KEY ${index}`);
}

async function isThere(knex: Knex): Promise<boolean> {
  const [rows] = (await knex.raw("SHOW INDEX FROM outbox WHERE Key_name = ?", [index])) as [readonly object[]];
  return rows.length > 0;
}
