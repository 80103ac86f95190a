import { handleScheduleCommand } from "../../commands/handle-command.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { deleteSchedule } from "../../mailings/schedules/save-schedule.ts";
import { changeRequest, readChangeRequest } from "../../schemas/job-action-request.ts";
import { schedule as scheduleSchema } from "../answers/schedule.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, optional, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";
import { refuseSchedule, scheduleAnswerOf } from "./schedules.ts";

export const changedSchedule = {
  200: { is: "The schedule as it is now.", json: scheduleSchema, headers: ["Event-Sequence"] },
} as const;

/** Pauses, resumes and deletes schedules. */
export const scheduleChangeRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "POST",
    path: "/schedules/:scheduleId/pause",
    describes: {
      operation: "pauseSchedule",
      summary: "Pause a schedule. What it has made goes on; times that pass meanwhile never count.",
      body: optional(changeRequest),
      answers: changedSchedule,
      needs: ["log-writes"],
      problems: ["schedule-not-found", "schedule-deleted"],
    },
    takesBody: true,
    handle: (request) => change(dependencies, request, "PauseSchedule"),
  }),
  route({
    method: "POST",
    path: "/schedules/:scheduleId/resume",
    describes: {
      operation: "resumeSchedule",
      summary: "Resume a paused schedule, from its next time on.",
      body: optional(changeRequest),
      answers: changedSchedule,
      needs: ["log-writes"],
      problems: ["schedule-not-found", "schedule-deleted", "schedule-not-paused"],
    },
    takesBody: true,
    handle: (request) => change(dependencies, request, "ResumeSchedule"),
  }),
  route({
    method: "DELETE",
    path: "/schedules/:scheduleId",
    describes: {
      operation: "deleteSchedule",
      summary: "Delete a schedule and erase its template. What it has made stays, and so do its firings.",
      body: optional(changeRequest),
      answers: changedSchedule,
      needs: ["log-writes"],
      problems: ["schedule-not-found"],
    },
    takesBody: true,
    handle: (request) => change(dependencies, request, "DeleteSchedule"),
  }),
];

async function change(
  dependencies: RouteDependencies,
  request: ApiRequest,
  type: "PauseSchedule" | "ResumeSchedule" | "DeleteSchedule",
): Promise<Answer> {
  const asked = readChangeRequest(request.body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const ref = toJobRef(request.context, request.part("scheduleId"));
  if (ref === null) return refuseSchedule({ code: "schedule-not-found" });
  const { reason = null } = asked.value;
  const ports = request.inTime(dependencies);
  const [at, cause] = [dependencies.now(), toCause(request.context)];
  const outcome =
    type === "DeleteSchedule"
      ? await deleteSchedule(ports, ref, { type, at, reason }, cause)
      : await handleScheduleCommand(ports.log, ref, { type, at, reason }, cause);
  if (outcome.outcome === "rejected") return refuseSchedule(outcome.rejection);
  return await answerDecision(dependencies, request, ref, outcome.sequence);
}

/** Answers with the schedule as it is after a decision about it. */
export async function answerDecision(
  dependencies: RouteDependencies,
  request: ApiRequest,
  ref: JobRef,
  sequence: number,
): Promise<Answer> {
  dependencies.ownWrites.remember(ref, sequence);
  const answer = await scheduleAnswerOf(dependencies, request, ref);
  if (answer === null) return refuseSchedule({ code: "schedule-not-found" });
  return json(answer, { "Event-Sequence": String(sequence) });
}
