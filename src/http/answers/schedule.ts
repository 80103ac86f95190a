import { Type } from "typebox";
import type { FiringRecord } from "../../../projections/schedules/queries.ts";
import type { Instant } from "../../domain/message.ts";
import type { LastFiring, MadeThing, Schedule, SkipReason } from "../../domain/schedule/events.ts";
import { laterOf } from "../../domain/schedule/tend.ts";
import { nextTimes } from "../../mailings/schedules/due-times.ts";
import { isProblemCode, titleOf } from "../../schemas/problem.ts";
import { type AnswerOf, instant, jobId, named, ordinal, orNull, pageOf, recordOf, text } from "./parts.ts";

const lastFiring = named("LastFiring", {
  dueAt: instant,
  firedAt: instant,
  jobId: Type.Optional(jobId),
  mailingId: Type.Optional(jobId),
});

const summaryFields = {
  id: jobId,
  /** Null once the schedule is deleted. */
  name: orNull(text),
  cron: text,
  timeZone: text,
  overlap: Type.Enum(["skip", "queue"]),
  catchUp: Type.Enum(["none", "one"]),
  status: Type.Enum(["active", "paused", "deleted"]),
  makes: Type.Enum(["job", "mailing"]),
  nextTimes: Type.Array(instant, { maxItems: 5 }),
  lastFiring: orNull(lastFiring),
  createdAt: instant,
  updatedAt: instant,
};

export const schedulePage = pageOf("SchedulePage", named("ScheduleSummary", summaryFields));

export type ScheduleSummaryAnswer = AnswerOf<typeof schedulePage>["data"][number];

/** As it was given. */
const template = Type.Optional(recordOf(Type.Unknown()));

export const schedule = named("Schedule", { ...summaryFields, job: template, mailing: template });

export type ScheduleAnswer = AnswerOf<typeof schedule>;

export const schedulePath = (base: string, scheduleId: string): string => `${base}/schedules/${scheduleId}`;

const shownTimes = 5;

export function toScheduleSummary(
  id: string,
  name: string | null,
  { cron, timeZone, overlap, catchUp, status, makes, countedFrom, last, createdAt, updatedAt }: Schedule,
  now: Instant,
): ScheduleSummaryAnswer {
  const isActive = status === "active";
  return {
    id,
    name,
    cron,
    timeZone,
    overlap,
    catchUp,
    status,
    makes,
    nextTimes: isActive ? nextTimes({ cron, timeZone }, laterOf(now, countedFrom), shownTimes) : [],
    lastFiring: last === null ? null : toLastFiring(last, makes),
    createdAt,
    updatedAt,
  };
}

const toLastFiring = ({ dueAt, at, madeId, isFailed }: LastFiring, makes: MadeThing) => ({
  dueAt,
  firedAt: at,
  ...(isFailed ? {} : makes === "job" ? { jobId: madeId } : { mailingId: madeId }),
});

const firing = named("Firing", {
  dueAt: instant,
  at: instant,
  outcome: Type.Enum(["fired", "skipped", "failed"]),
  reason: orNull(text),
  jobId: orNull(jobId),
  mailingId: orNull(jobId),
  firstDueAt: instant,
  count: ordinal,
});

export const firingPage = pageOf("FiringPage", firing);

export function toFiringAnswer(record: FiringRecord): AnswerOf<typeof firing> {
  const { dueAt, at, outcome, firstDueAt, count, makes } = record;
  const madeId = outcome === "fired" ? record.madeId : null;
  return {
    dueAt,
    at,
    outcome,
    reason: reasonOf(record),
    jobId: makes === "job" ? madeId : null,
    mailingId: makes === "mailing" ? madeId : null,
    firstDueAt,
    count,
  };
}

const whySkipped: Record<SkipReason, string> = {
  overlap: "What was made before had not ended.",
  missed: "The service was away.",
  paused: "The schedule was paused.",
  changed: "The schedule was changed.",
  deleted: "The schedule was deleted.",
};

function reasonOf(record: FiringRecord): string | null {
  if (record.outcome === "fired") return null;
  if (record.outcome === "skipped") return whySkipped[record.reason];
  const { code, places } = record;
  const title = isProblemCode(code) ? titleOf(code) : "It was refused";
  return places.length === 0 ? `${title} (${code}).` : `${title} (${code}): ${places.join(", ")}.`;
}
