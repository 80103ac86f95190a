import type { Knex } from "knex";
import { putRows } from "../../src/database/write-rows.ts";
import type { ScheduleEvent } from "../../src/domain/schedule/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, inPortions, loadRows, readContents } from "../batch.ts";
import { toDate } from "../instants.ts";
import type { ProjectionTarget, Projector } from "../projector.ts";
import { type FiringRow, type ScheduleRow, scheduleTableDefinitions, scheduleTables } from "./rows.ts";

const handles = [
  "ScheduleCreated",
  "ScheduleChanged",
  "SchedulePaused",
  "ScheduleResumed",
  "ScheduleDeleted",
  "ScheduleRecipientsErased",
  "ScheduleFired",
  "ScheduleQueued",
  "ScheduleSkipped",
  "ScheduleFailed",
] as const satisfies readonly ScheduleEvent["type"][];

/** The schedules, and what became of their times. */
export const schedulesProjector: Projector<ScheduleEvent> = {
  name: "schedules",
  version: 2,
  tables: scheduleTableDefinitions,
  views: {},
  handles,
  project,
};

type Stored = StoredEvent<ScheduleEvent>;

async function project(events: readonly Stored[], target: ProjectionTarget): Promise<void> {
  const { transaction, suffix } = target;
  const tables = scheduleTables(suffix);
  const names = await readNames(events, target);
  const ids = idsOf(events, ({ jobId }) => jobId);
  const schedules = await loadRows<ScheduleRow>(transaction, tables.schedules, ["schedule_id"], ids);
  // The firings of a schedule can be many: none is loaded, as each event says all of its row but its place.
  const firings = new Map<string, FiringRow>();
  for (const stored of events) {
    const { jobId, tenant, sequence, event } = stored;
    const { schedule } = event.data;
    const before = schedules.find(jobId);
    const isListed = schedule.status !== "deleted";
    schedules.put({
      schedule_id: jobId,
      tenant,
      is_listed: isListed ? 1 : 0,
      sequence: before?.sequence ?? sequence,
      name: isListed ? nameAfter(stored, before, names) : null,
      state: JSON.stringify(schedule),
    });
    const firing = toFiringRow(stored);
    if (firing === null) continue;
    const key = `${jobId} ${firing.due_at.getTime()}`;
    firings.set(key, { ...firing, sequence: firings.get(key)?.sequence ?? sequence });
  }
  await schedules.write();
  const rows = [...firings.values()];
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first) as (keyof FiringRow)[];
  await putRows<FiringRow>(transaction, {
    table: tables.firings,
    columns,
    rows,
    put: columns.filter((column) => column !== "sequence"),
  });
  await dropOld(transaction, tables.firings, rows);
}

/** Before the last one of its schedule: one for each minute makes half a million rows a year. */
const keptMs = 366 * 86_400_000;

/** By the times of events and not by a clock, so that a rebuild ends with the same rows. */
async function dropOld(transaction: Knex.Transaction, table: string, rows: readonly FiringRow[]): Promise<void> {
  const last = new Map<string, number>();
  for (const { schedule_id: id, due_at: due } of rows) last.set(id, Math.max(last.get(id) ?? 0, due.getTime()));
  // Most schedules of a batch have their last time in common.
  for (const due of new Set(last.values())) {
    const ids = [...last].flatMap(([id, time]) => (time === due ? [id] : []));
    for (const some of inPortions(ids)) {
      await transaction(table)
        .whereIn("schedule_id", [...some])
        .andWhere("due_at", "<", new Date(due - keptMs))
        .delete();
    }
  }
}

const hasContent = ({ event }: Stored): boolean =>
  event.type === "ScheduleCreated" || event.type === "ScheduleChanged" || event.type === "ScheduleRecipientsErased";

/** By the ids of contents. Null where one was replaced since: the event that replaced it follows. */
async function readNames(
  events: readonly Stored[],
  target: ProjectionTarget,
): Promise<ReadonlyMap<string, string | null>> {
  const stored = events.filter(hasContent).map(({ tenant, event }) => ({ tenant, jobId: contentOf(event) }));
  const names = new Map<string, string | null>();
  for await (const { job, content } of readContents(stored, target)) names.set(job.jobId, content?.name ?? null);
  return names;
}

const contentOf = ({ data }: ScheduleEvent): string => data.schedule.contentId;

/** It changes with the content alone. */
const nameAfter = (
  stored: Stored,
  before: ScheduleRow | undefined,
  names: ReadonlyMap<string, string | null>,
): string | null => (hasContent(stored) ? names.get(contentOf(stored.event)) : before?.name) ?? null;

function toFiringRow({ jobId, tenant, sequence, event }: Stored): FiringRow | null {
  if (event.type !== "ScheduleFired" && event.type !== "ScheduleSkipped" && event.type !== "ScheduleFailed") {
    return null;
  }
  const { dueAt, schedule } = event.data;
  const due = toDate(dueAt);
  const row = {
    schedule_id: jobId,
    due_at: due,
    tenant,
    sequence,
    recorded_at: toDate(event.at),
    first_due_at: due,
    times: 1,
    reason: null,
    places: null,
    makes: schedule.makes,
    made_id: null,
  };
  switch (event.type) {
    case "ScheduleFired":
      return { ...row, outcome: "fired", made_id: event.data.madeId };
    case "ScheduleSkipped": {
      const { firstDueAt, count, reason } = event.data;
      return { ...row, outcome: "skipped", first_due_at: toDate(firstDueAt), times: count, reason };
    }
    case "ScheduleFailed": {
      const { code, places } = event.data;
      return { ...row, outcome: "failed", reason: code, places: JSON.stringify(places) };
    }
  }
}
