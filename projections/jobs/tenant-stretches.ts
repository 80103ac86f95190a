import type { Knex } from "knex";
import { type LogState, serviceTenant } from "../../src/event-log/event-log.ts";
import { isOfLog } from "../../src/event-log/following/settled-log.ts";
import { type Stretch, type TenantStretches, wholeRest } from "../../src/event-log/tenant-stretches.ts";
import { checkpointTable } from "../following/checkpoint.ts";
import { jobsProjector } from "./projector.ts";
import { jobTables } from "./tables.ts";
import { blockOf, firstOf, lastOf } from "./tenant-blocks.ts";

/** Blocks that are looked up for one answer. */
const blocksAtOnce = 1000;
/** A gap of fewer blocks is read: to begin to read anew costs as much. */
const leastGap = 4;

type Row = {
  readonly sequence: number;
  readonly log_created_at: string | null;
  readonly version: number;
  /** Null if the tenant has no block there. */
  readonly block: number | null;
};

/**
 * Answered from the rows of the jobs, for as much of the log as they have come to: the rest may have events of any tenant.
 * Where the rows are of another log or another release, or cannot be read, the answer is the whole rest.
 */
export function createTenantStretches(db: Knex): TenantStretches {
  // One statement, because rows and checkpoint may be replaced by others at any moment.
  const sql = `
    SELECT reached.sequence, reached.log_created_at, reached.version, found.block
    FROM ?? AS reached LEFT JOIN ?? AS found ON found.tenant = ? AND found.block >= ?
    ORDER BY found.block LIMIT ?`;
  const read = async (tenant: string, afterSequence: number): Promise<readonly Row[]> => {
    const tables = [checkpointTable(jobsProjector.name), jobTables("").blocks];
    const [rows] = await db.raw(sql, [...tables, tenant, blockOf(afterSequence + 1), blocksAtOnce]);
    return rows as Row[];
  };
  return {
    next: async (tenant, afterSequence, log) => {
      // The events of the service are in no read model.
      if (tenant === serviceTenant) return wholeRest(afterSequence);
      const rows = await read(tenant, afterSequence).catch(() => []);
      return toStretch(rows, afterSequence, log);
    },
  };
}

function toStretch(rows: readonly Row[], afterSequence: number, log: LogState): Stretch {
  const [first] = rows;
  if (first === undefined || first.version !== jobsProjector.version) return wholeRest(afterSequence);
  const reached = { sequence: Number(first.sequence), logCreatedAt: first.log_created_at, version: first.version };
  if (!isOfLog(reached, log) || reached.sequence <= afterSequence) return wholeRest(afterSequence);
  const blocks = rows.flatMap(({ block }) => (block === null ? [] : [Number(block)]));
  const [begin] = blocks;
  if (begin === undefined) return wholeRest(reached.sequence);
  const end =
    blocks.find((block, index) => (blocks[index + 1] ?? Number.POSITIVE_INFINITY) - block > leastGap) ?? begin;
  const isKnownBehind = lastOf(end) < reached.sequence;
  return {
    first: Math.max(firstOf(begin), afterSequence + 1),
    last: isKnownBehind ? lastOf(end) : Number.POSITIVE_INFINITY,
  };
}
