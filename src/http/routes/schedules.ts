import { readSchedule } from "../../commands/read-version.ts";
import { decodeContent } from "../../content/encode-content.ts";
import type { ScheduleRejection } from "../../domain/schedule/decider.ts";
import type { Schedule } from "../../domain/schedule/events.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { problemOfRejection } from "../../intake/problem-of.ts";
import { templateOf } from "../../mailings/schedules/schedule-content.ts";
import type { AnswerOf } from "../answers/parts.ts";
import {
  firingPage,
  type ScheduleAnswer,
  schedulePage,
  schedule as scheduleSchema,
  toFiringAnswer,
  toScheduleSummary,
} from "../answers/schedule.ts";
import { type Answer, answerProblem, json } from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askIncluding, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type ListQuery = { readonly cursor: number | null; readonly limit: number };

const parameters: Parameters<ListQuery> = {
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** What is known of jobs and mailings that are made again and again. Only the lists need a read model. */
export const scheduleRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route<ListQuery>({
    method: "GET",
    path: "/schedules",
    describes: {
      operation: "listSchedules",
      summary: "The tenant's schedules that are not deleted, the newest first.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: schedulePage, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => list(dependencies, request),
  }),
  route({
    method: "GET",
    path: "/schedules/:scheduleId",
    describes: {
      operation: "readSchedule",
      summary: "One schedule, with its template and its next times; also a deleted one.",
      answers: { 200: { is: "The schedule.", json: scheduleSchema } },
      needs: ["log"],
      problems: ["schedule-not-found"],
    },
    handle: async (request) => {
      const ref = toJobRef(request.context, request.part("scheduleId"));
      const answer = ref === null ? null : await scheduleAnswerOf(dependencies, request, ref);
      return answer === null ? refuseSchedule({ code: "schedule-not-found" }) : json(answer);
    },
  }),
  route<ListQuery>({
    method: "GET",
    path: "/schedules/:scheduleId/firings",
    describes: {
      operation: "listFirings",
      summary:
        "What became of the times of a schedule, the newest first. Times that were skipped together are one entry.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: firingPage, headers: ["Read-Sequence"] } },
      needs: ["log", "read-model"],
      problems: ["schedule-not-found", "read-model-behind"],
    },
    query: parameters,
    handle: (request) => listFirings(dependencies, request),
  }),
];

export const refuseSchedule = (rejection: ScheduleRejection): Answer => answerProblem(problemOfRejection(rejection));

/** From the log, whose last event about it says all. */
export async function scheduleAnswerOf(
  dependencies: RouteDependencies,
  { inTime }: ApiRequest,
  ref: JobRef,
): Promise<ScheduleAnswer | null> {
  const { log, contentStore } = inTime(dependencies);
  const { state } = await readSchedule(log, ref);
  if (state.status === "absent") return null;
  const schedule: Schedule = state;
  const stored = await contentStore.get({ ...ref, jobId: schedule.contentId });
  const content = stored === null ? null : decodeContent(stored);
  const summary = toScheduleSummary(ref.jobId, content?.name ?? null, schedule, dependencies.now());
  return content === null ? summary : { ...summary, [schedule.makes]: templateOf(content, schedule.makes) };
}

async function list(
  { schedules, readPosition, ownWrites, now }: RouteDependencies,
  { context: { tenant }, query, minSequence }: ApiRequest<ListQuery>,
): Promise<Answer> {
  const wanted = Math.max(minSequence, ownWrites.ofTenant(tenant));
  const found = await askIncluding(readPosition, "schedules", wanted, () => schedules.list(tenant, query));
  if (found.readSequence < minSequence) return refuseBehind(minSequence);
  const at = now();
  const data = found.schedules.map(({ id, name, schedule }) => toScheduleSummary(id, name, schedule, at));
  const body: AnswerOf<typeof schedulePage> = { data, nextCursor: found.nextCursor };
  return json(body, readSequenceHeader(found.readSequence));
}

async function listFirings(
  dependencies: RouteDependencies,
  { context, query, minSequence, part, inTime }: ApiRequest<ListQuery>,
): Promise<Answer> {
  const ref = toJobRef(context, part("scheduleId"));
  const last = ref === null ? null : await readSchedule(inTime(dependencies).log, ref);
  if (ref === null || last === null || last.state.status === "absent") {
    return refuseSchedule({ code: "schedule-not-found" });
  }
  const { schedules, readPosition } = dependencies;
  const wanted = Math.max(minSequence, last.sequence);
  const ask = () => schedules.firings(ref.tenant, ref.jobId, query);
  const found = await askIncluding(readPosition, "schedules", wanted, ask);
  if (found.readSequence < minSequence) return refuseBehind(minSequence);
  const body: AnswerOf<typeof firingPage> = { data: found.firings.map(toFiringAnswer), nextCursor: found.nextCursor };
  return json(body, readSequenceHeader(found.readSequence));
}
