import { Type } from "typebox";
import { skipReasons } from "../domain/schedule/events.ts";
import { data, instant, natural, on, orNull, positive, reason, sha256 } from "./event-fields.ts";

const decision = on("schedule");

/** The schedule as it is after the event. */
const schedule = data({
  makes: Type.Enum(["job", "mailing"]),
  cron: Type.String(),
  timeZone: Type.String(),
  overlap: Type.Enum(["skip", "queue"]),
  catchUp: Type.Enum(["none", "one"]),
  contentId: Type.String(),
  contentSha256: sha256,
  status: Type.Enum(["active", "paused", "deleted"]),
  createdAt: instant,
  updatedAt: instant,
  requestSha256: orNull(sha256),
  changedBy: Type.String(),
  countedFrom: instant,
  last: orNull(data({ dueAt: instant, at: instant, madeId: Type.String(), isFailed: Type.Boolean() })),
  waiting: orNull(instant),
  skippedAt: orNull(instant),
});

const createdAt = "2026-11-21T09:30:00.000Z";
const dueAt = "2026-11-23T07:30:00.000Z";
const madeId = "0193a5e0-6c1d-8a4b-9f2e-3d5c7b9a1e0f";
const example = {
  makes: "job",
  cron: "30 8 * * mon",
  timeZone: "Europe/Berlin",
  overlap: "queue",
  catchUp: "one",
  contentId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f",
  contentSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  status: "active",
  createdAt,
  updatedAt: createdAt,
  requestSha256: null,
  changedBy: "key:Zm9vYmFy",
  countedFrom: createdAt,
  last: null,
  waiting: null,
  skippedAt: null,
} as const;
const last = { dueAt, at: "2026-11-23T07:30:00.012Z", madeId, isFailed: false };
const fired = { ...example, countedFrom: dueAt, last };

/** Decisions about a schedule. */
export const eventsOfSchedules = {
  ScheduleCreated: decision({ schedule }, { schedule: example }),
  ScheduleChanged: decision(
    { replaces: Type.String(), schedule },
    {
      replaces: example.contentId,
      schedule: { ...example, cron: "0 9 * * mon-fri", contentId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e1f" },
    },
  ),
  SchedulePaused: decision({ reason, schedule }, { reason: "holidays", schedule: { ...example, status: "paused" } }),
  ScheduleResumed: decision({ reason, schedule }, { reason: null, schedule: example }),
  ScheduleDeleted: decision({ reason, schedule }, { reason: null, schedule: { ...example, status: "deleted" } }),
  ScheduleRecipientsErased: decision(
    { reason, recipients: natural, replaces: Type.String(), schedule },
    {
      reason: "asked by the person",
      recipients: 2,
      replaces: example.contentId,
      schedule: { ...example, contentId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e1f" },
    },
  ),
  ScheduleFired: decision({ dueAt: instant, madeId: Type.String(), schedule }, { dueAt, madeId, schedule: fired }),
  ScheduleQueued: decision(
    { dueAt: instant, schedule },
    {
      dueAt: "2026-11-30T07:30:00.000Z",
      schedule: { ...fired, countedFrom: "2026-11-30T07:30:00.000Z", waiting: "2026-11-30T07:30:00.000Z" },
    },
  ),
  ScheduleSkipped: decision(
    { firstDueAt: instant, dueAt: instant, count: positive, reason: Type.Enum([...skipReasons]), schedule },
    {
      firstDueAt: "2026-11-30T07:30:00.000Z",
      dueAt: "2026-12-07T07:30:00.000Z",
      count: 2,
      reason: "missed",
      schedule: { ...fired, countedFrom: "2026-12-07T07:30:00.000Z" },
    },
  ),
  ScheduleFailed: decision(
    { dueAt: instant, madeId: Type.String(), code: Type.String(), places: Type.Array(Type.String()), schedule },
    {
      dueAt,
      madeId,
      code: "validation-failed",
      places: ["/template"],
      schedule: { ...fired, last: { ...last, isFailed: true } },
    },
  ),
} as const;
