import type { Knex } from "knex";
import type { Priority } from "../../../src/domain/job/events.ts";
import type { JobStatus } from "../../../src/domain/job/job-view.ts";
import type { Instant } from "../../../src/domain/message.ts";
import { readCheckpoint } from "../../following/checkpoint.ts";
import { onReadableRows } from "../../following/readable-rows.ts";
import { toDate, toInstantOrNull } from "../../instants.ts";
import { jobsProjector } from "../projector.ts";
import { jobTables } from "../tables.ts";
import { type Activity, activities } from "./activities.ts";
import { keptMinutesMs } from "./write-activities.ts";

/** How many jobs wait for a worker, those included whose time has come, and since when the longest wait lasts. */
export type Waiting = { readonly jobs: number; readonly oldestSince: Instant | null };

/** What happened since `from`, which is the start of a minute. */
export type Period = { readonly from: Instant; readonly counts: Readonly<Record<Activity, number>> };

export type Stats = {
  readonly readSequence: number;
  readonly jobs: ReadonlyMap<JobStatus, number>;
  /** Recipients that are still to be mailed, by the status of their job. */
  readonly unsent: ReadonlyMap<JobStatus, number>;
  readonly waiting: ReadonlyMap<Priority, Waiting>;
  /** The requested number of last minutes, in the same order. */
  readonly periods: readonly Period[];
};

/** What happened from `at` on, for the length of a step. */
export type Point = { readonly at: Instant; readonly counts: Readonly<Record<Activity, number>> };

/** How far back a series can have steps of less than an hour. */
export const minutesReachMs = keptMinutesMs;

/** Both times are whole steps since 1970. */
export type SeriesSpan = { readonly fromMs: number; readonly toMs: number; readonly stepMs: number };

export type StatsQueries = {
  /** The points that have an event, oldest first: of the rows of hours for steps of whole hours, else of minutes. */
  series(
    tenant: string,
    span: SeriesSpan,
  ): Promise<{ readonly readSequence: number; readonly points: readonly Point[] }>;
  /** For one tenant, or for all of them together if it is null. */
  read(tenant: string | null, now: Instant, minutes: readonly number[]): Promise<Stats>;
};

export const createStatsQueries = (db: Knex): StatsQueries =>
  onReadableRows(db, jobsProjector, {
    read: async (tenant, now, minutes) => {
      // Reads the checkpoint first: the rows are then at least as new as it.
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const [counts, due, oldest, periods] = await Promise.all([
        readCounts(db, tenant),
        readDue(db, tenant, now),
        readOldest(db, tenant, now),
        Promise.all(minutes.map((some) => readPeriod(db, tenant, startOf(now, some)))),
      ]);
      const waiting = priorities.map((priority, index) => {
        const itsCounts = counts.filter(
          (count) => count.priority === priority && waitingStatuses.includes(count.status),
        );
        const jobs = sumOf(itsCounts) + (due[index] ?? 0);
        return [priority, { jobs, oldestSince: toInstantOrNull(oldest[index] ?? null) }] as const;
      });
      const statuses = [...new Set(counts.map(({ status }) => status))];
      const byStatus = (sum: (some: readonly Count[]) => number): ReadonlyMap<JobStatus, number> =>
        new Map(statuses.map((status) => [status, sum(counts.filter((count) => count.status === status))]));
      return {
        readSequence: checkpoint?.sequence ?? 0,
        jobs: byStatus(sumOf),
        unsent: byStatus((some) => some.reduce((sum, { unsent }) => sum + unsent, 0)),
        waiting: new Map(waiting),
        periods,
      };
    },
    series: async (tenant, span) => {
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      return { readSequence: checkpoint?.sequence ?? 0, points: await readSeries(db, tenant, span) };
    },
  });

const priorities: readonly Priority[] = ["high", "normal", "low"];
const waitingStatuses: readonly JobStatus[] = ["pending", "queued"];

const minuteMs = 60_000;

/** The whole minutes before the current one. */
const startOf = (now: Instant, minutes: number): Date =>
  new Date((Math.floor(Date.parse(now) / minuteMs) - minutes) * minuteMs);

type Count = {
  readonly status: JobStatus;
  readonly priority: Priority;
  readonly jobs: number;
  readonly unsent: number;
};

const sumOf = (counts: readonly Count[]): number => counts.reduce((sum, { jobs }) => sum + jobs, 0);

async function readCounts(db: Knex, tenant: string | null): Promise<readonly Count[]> {
  const rows: Count[] = await db(jobTables("").counts)
    .modify(ofTenant, tenant)
    .select("status", "priority", db.raw("SUM(jobs + retired) AS jobs"), db.raw("SUM(unsent) AS unsent"))
    .groupBy("status", "priority");
  return rows.map((row) => ({ ...row, jobs: Number(row.jobs), unsent: Number(row.unsent) }));
}

/** How many jobs of each priority wait for a worker since their time has come. They are few, as long as there are workers. */
const readDue = (db: Knex, tenant: string | null, now: Instant): Promise<readonly number[]> =>
  Promise.all(
    priorities.map(async (priority) => {
      const [row] = await waitingAt(db, tenant, now).where({ priority, is_timed: 1 }).count({ jobs: "*" });
      return Number(row?.["jobs"] ?? 0);
    }),
  );

/** Reads two entries of an index for each priority: a grouping would read the whole index. */
const readOldest = (db: Knex, tenant: string | null, now: Instant): Promise<readonly (Date | null)[]> =>
  Promise.all(
    priorities.map(async (priority) => {
      const firstOf = async (is_timed: 0 | 1): Promise<readonly Date[]> =>
        await waitingAt(db, tenant, now)
          .where({ priority, is_timed })
          .orderBy("waiting_since")
          .limit(1)
          .pluck("waiting_since");
      const [first = null, other = first] = (await Promise.all([firstOf(0), firstOf(1)])).flat();
      return first !== null && other !== null && other < first ? other : first;
    }),
  );

const waitingAt = (db: Knex, tenant: string | null, now: Instant) =>
  db(jobTables("").waiting).modify(ofTenant, tenant).where("waiting_since", "<=", toDate(now));

async function readPeriod(db: Knex, tenant: string | null, from: Date): Promise<Period> {
  const sums = Object.fromEntries(activities.map((activity) => [activity, activity]));
  const row = await db(jobTables("").minutes).modify(ofTenant, tenant).where("minute", ">=", from).sum(sums).first();
  const counts = activities.map((activity) => [activity, Number(row?.[activity] ?? 0)]);
  return { from: from.toISOString(), counts: Object.fromEntries(counts) as Period["counts"] };
}

const hourMs = 60 * minuteMs;

type SlotRow = { readonly slot: number | string } & Readonly<Record<Activity, number | string>>;

async function readSeries(db: Knex, tenant: string, { fromMs, toMs, stepMs }: SeriesSpan): Promise<readonly Point[]> {
  const { hours, minutes } = jobTables("");
  const [table, column] = stepMs % hourMs === 0 ? [hours, "hour"] : [minutes, "minute"];
  // Not UNIX_TIMESTAMP, which takes the stored time for one of the session's zone.
  const slot = db.raw("TIMESTAMPDIFF(SECOND, '1970-01-01', ??) DIV ? AS slot", [column, stepMs / 1000]);
  const rows: readonly SlotRow[] = await db(table)
    .where({ tenant })
    .andWhere(column, ">=", new Date(fromMs))
    .andWhere(column, "<", new Date(toMs))
    .select(slot, ...activities.map((activity) => db.raw("SUM(??) AS ??", [activity, activity])))
    .groupBy("slot")
    .orderBy("slot");
  return rows.map(({ slot: number, ...counts }) => ({
    at: new Date(Number(number) * stepMs).toISOString(),
    counts: Object.fromEntries(activities.map((one) => [one, Number(counts[one])])) as Point["counts"],
  }));
}

function ofTenant(query: Knex.QueryBuilder, tenant: string | null): void {
  if (tenant !== null) void query.where({ tenant });
}
