import type { Knex } from "knex";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { type Page, type PageOptions, readNewestFirst } from "../newest-first.ts";
import { schedulesProjector } from "./projector.ts";
import {
  type FiringRecord,
  type FiringRow,
  type ScheduleRecord,
  type ScheduleRow,
  scheduleTables,
  toFiringRecord,
  toScheduleRecord,
} from "./rows.ts";

export type { FiringRecord } from "./rows.ts";

type PageOf<Name extends string, Record> = Omit<Page<never>, "rows"> & { readonly [Key in Name]: readonly Record[] };

export type ScheduleQueries = {
  /** Those that are not deleted, the newest first. */
  list(tenant: string, options: PageOptions): Promise<PageOf<"schedules", ScheduleRecord>>;
  /** What became of the times of a schedule, the newest first. */
  firings(tenant: string, scheduleId: string, options: PageOptions): Promise<PageOf<"firings", FiringRecord>>;
  /** How many there are of all tenants that are not deleted. */
  countAll(): Promise<number>;
  /** The ids of those that are not deleted. */
  all(tenant: string): Promise<{ readonly scheduleIds: readonly string[]; readonly readSequence: number }>;
};

export const createScheduleQueries = (db: Knex): ScheduleQueries =>
  onReadableRows(db, schedulesProjector, {
    list: async (tenant, options) => {
      const matching = { tenant, is_listed: 1 };
      const place = { projection: "schedules", table: scheduleTables("").schedules, matching };
      const { rows, ...page } = await readNewestFirst<ScheduleRow>(db, place, options);
      return { ...page, schedules: rows.map(toScheduleRecord) };
    },
    firings: async (tenant, scheduleId, options) => {
      const matching = { tenant, schedule_id: scheduleId };
      const place = { projection: "schedules", table: scheduleTables("").firings, matching };
      const { rows, ...page } = await readNewestFirst<FiringRow>(db, place, options);
      return { ...page, firings: rows.map(toFiringRecord) };
    },
    countAll: async () => {
      const [row] = await db(scheduleTables("").schedules).where({ is_listed: 1 }).count({ count: "*" });
      return Number(row?.["count"] ?? 0);
    },
    all: async (tenant) => {
      const checkpoint = await readCheckpoint(db, "schedules");
      const rows: Pick<ScheduleRow, "schedule_id">[] = await db(scheduleTables("").schedules)
        .where({ tenant, is_listed: 1 })
        .select("schedule_id");
      return { scheduleIds: rows.map((row) => row.schedule_id), readSequence: checkpoint?.sequence ?? 0 };
    },
  });
