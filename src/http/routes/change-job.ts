import { handleCommand } from "../../commands/handle-command.ts";
import type { JobCommand } from "../../domain/job/commands.ts";
import { jobFromLog } from "../../history/job-from-log.ts";
import type { Checked } from "../../schemas/fault.ts";
import {
  changeRequest,
  readChangeRequest,
  readRescheduleRequest,
  readRetryRequest,
  rescheduleRequest,
  retryRequest,
} from "../../schemas/job-action-request.ts";
import { job as jobSchema, toJobAnswer } from "../answers/job.ts";
import { type Answer, jobNotFound, json, refuseFaults, refuseRejection } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, needed, optional, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const changed = { 200: { is: "The job as it is now.", json: jobSchema, headers: ["Event-Sequence"] } } as const;

/** The decisions that people make about an existing job. */
export const changeJobRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "POST",
    path: "/jobs/:jobId/retry",
    describes: {
      operation: "retryJob",
      summary: "Run a failed job again; recipients already sent are not mailed again.",
      body: optional(retryRequest),
      answers: changed,
      needs: ["log-writes"],
      problems: ["job-not-found", "job-not-failed", "job-requeued", "content-erased"],
    },
    takesBody: true,
    handle: (request) =>
      change(dependencies, request, readRetryRequest(request.body ?? {}), ({ scope, reason }) => ({
        type: "RetryJob",
        at: dependencies.now(),
        scope: scope ?? "failed",
        reason: reason ?? null,
      })),
  }),
  route({
    method: "DELETE",
    path: "/jobs/:jobId",
    describes: {
      operation: "cancelJob",
      summary: "Cancel a job that has not ended.",
      body: optional(changeRequest),
      answers: changed,
      needs: ["log-writes"],
      problems: ["job-not-found", "job-has-ended"],
    },
    takesBody: true,
    handle: (request) =>
      change(dependencies, request, readChangeRequest(request.body ?? {}), ({ reason }) => ({
        type: "CancelJob",
        at: dependencies.now(),
        reason: reason ?? null,
      })),
  }),
  route({
    method: "POST",
    path: "/jobs/:jobId/pause",
    describes: {
      operation: "pauseJob",
      summary: "Pause a job.",
      body: optional(changeRequest),
      answers: changed,
      needs: ["log-writes"],
      problems: ["job-not-found", "job-has-ended"],
    },
    takesBody: true,
    handle: (request) =>
      change(dependencies, request, readChangeRequest(request.body ?? {}), ({ reason }) => ({
        type: "PauseJob",
        at: dependencies.now(),
        reason: reason ?? null,
      })),
  }),
  route({
    method: "POST",
    path: "/jobs/:jobId/resume",
    describes: {
      operation: "resumeJob",
      summary: "Resume a paused job.",
      body: optional(changeRequest),
      answers: changed,
      needs: ["log-writes"],
      problems: ["job-not-found", "job-not-paused"],
    },
    takesBody: true,
    handle: (request) =>
      change(dependencies, request, readChangeRequest(request.body ?? {}), ({ reason }) => ({
        type: "ResumeJob",
        at: dependencies.now(),
        reason: reason ?? null,
      })),
  }),
  route({
    method: "PATCH",
    path: "/jobs/:jobId",
    describes: {
      operation: "rescheduleJob",
      summary: "Change the time or priority of a job that has not started.",
      body: needed(rescheduleRequest),
      answers: changed,
      needs: ["log-writes"],
      problems: ["job-not-found", "job-has-started", "job-has-ended", "scheduled-too-late"],
    },
    takesBody: true,
    handle: (request) =>
      change(dependencies, request, readRescheduleRequest(request.body), ({ scheduledAt, priority, reason }) => ({
        type: "RescheduleJob",
        at: dependencies.now(),
        ...(scheduledAt === undefined ? {} : { scheduledAt }),
        ...(priority === undefined ? {} : { priority }),
        reason: reason ?? null,
      })),
  }),
];

/** Answers with the job from the log, so that the answer includes the decision, with or without a read model. */
async function change<Change>(
  { ownWrites, ...ports }: RouteDependencies,
  { context, base, part, inTime }: ApiRequest,
  asked: Checked<Change>,
  toCommand: (asked: Change) => JobCommand,
): Promise<Answer> {
  if (!asked.valid) return refuseFaults(asked.faults);
  const job = toJobRef(context, part("jobId"));
  if (job === null) return jobNotFound();
  const { log, contentStore } = inTime(ports);
  const outcome = await handleCommand(log, job, toCommand(asked.value), toCause(context));
  if (outcome.outcome === "rejected") return refuseRejection(outcome.rejection);
  ownWrites.remember(job, outcome.sequence);
  const changed = await jobFromLog(log, contentStore, job);
  if (changed === null) return jobNotFound();
  // The answer also includes what has happened since the decision.
  const sequence = Math.max(outcome.sequence, changed.sequence);
  ownWrites.remember(job, sequence);
  return json(toJobAnswer(changed.job, base), { "Event-Sequence": String(sequence) });
}
