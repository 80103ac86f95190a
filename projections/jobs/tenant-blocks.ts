import type { Knex } from "knex";
import { putRows } from "../../src/database/write-rows.ts";
import type { StoredEvent, TenantEvent } from "../../src/event-log/event-log.ts";
import type { Suffix } from "../projector.ts";
import { jobTables } from "./tables.ts";

/** The log by blocks of so many sequences: small enough to be read in a moment, and so large that an index of them is short. */
const sequencesOfBlock = 1024;

type BlockRow = { readonly tenant: string; readonly block: number };

export const blockOf = (sequence: number): number => Math.floor(sequence / sequencesOfBlock);
export const firstOf = (block: number): number => block * sequencesOfBlock;
export const lastOf = (block: number): number => firstOf(block + 1) - 1;

/** Keeps in which blocks of the log each tenant has events. */
export async function noteBlocks(
  transaction: Knex.Transaction,
  suffix: Suffix,
  events: readonly StoredEvent<TenantEvent>[],
): Promise<void> {
  const rows = new Map<string, BlockRow>();
  for (const { tenant, sequence } of events) {
    const block = blockOf(sequence);
    rows.set(`${block} ${tenant}`, { tenant, block });
  }
  const columns = ["tenant", "block"] as const;
  await putRows<BlockRow>(transaction, { table: jobTables(suffix).blocks, columns, rows: [...rows.values()] });
}
