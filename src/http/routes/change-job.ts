import { handleCommand } from "../../commands/handle-command.ts";
import type { JobCommand } from "../../domain/job/commands.ts";
import type { Instant } from "../../domain/message.ts";
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
import { type ApiRequest, type Describes, needed, optional, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const changed = { 200: { is: "The job as it is now.", json: jobSchema, headers: ["Event-Sequence"] } } as const;

type ChangeRoute<Change> = Pick<Route, "method" | "path"> &
  Pick<Describes, "operation" | "summary" | "body" | "problems"> & {
    readonly read: (body: unknown) => Checked<Change>;
    readonly toCommand: (asked: Change, at: Instant) => JobCommand;
  };

const readChange = (body: unknown) => readChangeRequest(body ?? {});

/** The decisions that people make about an existing job. */
export function changeJobRoutes(dependencies: RouteDependencies): readonly Route[] {
  const changing = <Change>({ method, path, read, toCommand, ...described }: ChangeRoute<Change>): Route =>
    route({
      method,
      path,
      describes: { ...described, answers: changed, needs: ["log-writes"] },
      takesBody: true,
      handle: (request) =>
        change(dependencies, request, read(request.body), (asked) => toCommand(asked, dependencies.now())),
    });
  return [
    changing({
      method: "POST",
      path: "/jobs/:jobId/retry",
      operation: "retryJob",
      summary: "Run a failed job again; recipients already sent are not mailed again.",
      body: optional(retryRequest),
      problems: ["job-not-found", "job-not-failed", "job-requeued", "content-erased"],
      read: (body) => readRetryRequest(body ?? {}),
      toCommand: ({ scope = "failed", reason = null }, at) => ({ type: "RetryJob", at, scope, reason }),
    }),
    changing({
      method: "DELETE",
      path: "/jobs/:jobId",
      operation: "cancelJob",
      summary: "Cancel a job that has not ended.",
      body: optional(changeRequest),
      problems: ["job-not-found", "job-has-ended"],
      read: readChange,
      toCommand: ({ reason = null }, at) => ({ type: "CancelJob", at, reason }),
    }),
    changing({
      method: "POST",
      path: "/jobs/:jobId/pause",
      operation: "pauseJob",
      summary: "Pause a job.",
      body: optional(changeRequest),
      problems: ["job-not-found", "job-has-ended"],
      read: readChange,
      toCommand: ({ reason = null }, at) => ({ type: "PauseJob", at, reason }),
    }),
    changing({
      method: "POST",
      path: "/jobs/:jobId/resume",
      operation: "resumeJob",
      summary: "Resume a paused job.",
      body: optional(changeRequest),
      problems: ["job-not-found", "job-not-paused"],
      read: readChange,
      toCommand: ({ reason = null }, at) => ({ type: "ResumeJob", at, reason }),
    }),
    changing({
      method: "PATCH",
      path: "/jobs/:jobId",
      operation: "rescheduleJob",
      summary: "Change the time or priority of a job that has not started.",
      body: needed(rescheduleRequest),
      problems: ["job-not-found", "job-has-started", "job-has-ended", "scheduled-too-late"],
      read: readRescheduleRequest,
      toCommand: ({ scheduledAt, priority, reason = null }, at) => ({
        type: "RescheduleJob",
        at,
        ...(scheduledAt === undefined ? {} : { scheduledAt }),
        ...(priority === undefined ? {} : { priority }),
        reason,
      }),
    }),
  ];
}

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
