import type { Knex } from "knex";

/** Finds the rows that have ended by their age, and how old the oldest is that waits. */
const index = "by_age";

/** MySQL knows no IF NOT EXISTS for an index: an interrupted migration finds it made. The table stays open meanwhile. */
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
