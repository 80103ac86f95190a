import type { Knex } from "knex";
import { addRows, deleteBefore } from "../../../src/database/write-rows.ts";
import type { Suffix } from "../../projector.ts";
import { type Activities, activities, type MinuteRow } from "./activities.ts";
import { statsTables } from "./tables.ts";

type HourRow = Omit<MinuteRow, "minute"> & { readonly hour: Date };

const tidyMs = 300_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Each minute is kept for a month, and each hour for a year: a tenant never has more than 55,000 rows. */
export const keptMinutesMs = 31 * dayMs;
const keptHoursMs = 366 * dayMs;

/** Adds what happened in each minute to the stored counts of the minute and of its hour. */
export async function addActivities(transaction: Knex.Transaction, suffix: Suffix, noted: Activities): Promise<void> {
  const tables = statsTables(suffix);
  const minutes = [...noted.values()];
  await addRows<MinuteRow>(transaction, {
    table: tables.minutes,
    columns: ["tenant", "minute", ...activities],
    summed: activities,
    rows: minutes,
  });
  await addRows<HourRow>(transaction, {
    table: tables.hours,
    columns: ["tenant", "hour", ...activities],
    summed: activities,
    rows: hoursOf(minutes),
  });
  // By the times of events and not by a clock, so that a rebuild ends with the same rows; every five minutes, so that they are few.
  const beginnings = minutes.map(({ minute }) => minute.getTime()).filter((at) => at % tidyMs === 0);
  if (beginnings.length === 0) return;
  // An event of a host whose clock is ahead must not take the rows of all others with it.
  const latest = Math.min(Math.max(...beginnings), Date.now());
  await deleteBefore(transaction, tables.minutes, "minute", new Date(latest - keptMinutesMs));
  await deleteBefore(transaction, tables.hours, "hour", new Date(latest - keptHoursMs));
}

function hoursOf(minutes: readonly MinuteRow[]): readonly HourRow[] {
  const hours = new Map<string, HourRow>();
  for (const { minute, ...counts } of minutes) {
    const hour = new Date(Math.floor(minute.getTime() / hourMs) * hourMs);
    const key = `${hour.getTime()} ${counts.tenant}`;
    const known = hours.get(key);
    const sums = activities.map((activity) => [activity, counts[activity] + (known?.[activity] ?? 0)]);
    hours.set(key, { ...counts, hour, ...Object.fromEntries(sums) });
  }
  return [...hours.values()];
}
