import { InvalidCursor, type JobListOptions } from "../../../projections/jobs/list-options.ts";
import type { JobList } from "../../../projections/jobs/queries.ts";
import { handleCommand } from "../../commands/handle-command.ts";
import { foldDecisions } from "../../commands/read-version.ts";
import { unreachedIn } from "../../domain/job/after-failure.ts";
import type { JobCommand } from "../../domain/job/commands.ts";
import type { JobEvent } from "../../domain/job/events.ts";
import type { JobRecord } from "../../domain/job/job-record.ts";
import type { JobStatus } from "../../domain/job/job-view.ts";
import type { Instant } from "../../domain/message.ts";
import type { JobRef, StoredEvent } from "../../event-log/event-log.ts";
import { Archived } from "../../event-log/log-failures.ts";
import { type Acted, actOnMany, type PageOfMany, pagesOfList } from "../../intake/act-on-many.ts";
import { jobTypes } from "../../job-kinds/all-job-kinds.ts";
import { createStatusOfMailing } from "../../mailings/status-of-mailing.ts";
import {
  type BulkJobsRequest,
  bulkJobsRequest,
  cursorSince,
  instantOf,
  type JobAction,
  readBulkJobs,
} from "../../schemas/bulk-request.ts";
import { faultAt } from "../../schemas/fault.ts";
import { bulkResult, toBulkAnswer } from "../answers/bulk.ts";
import { type Answer, json, refuse, refuseFaults } from "../server/answer.ts";
import { toCause } from "../server/request-context.ts";
import { type ApiRequest, needed, route } from "../server/route.ts";
import { askReadModel, caughtUp } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** POST /jobs/bulk: one action for every job of a list or of a filter. */
export const bulkJobsRoute = (dependencies: RouteDependencies) =>
  route({
    method: "POST",
    path: "/jobs/bulk",
    describes: {
      operation: "changeJobs",
      summary: "Cancel, pause, resume or retry many jobs: those of a list, or those that a dry run has counted.",
      body: needed(bulkJobsRequest),
      answers: { 200: { is: "What was done; with a `nextCursor`, the same call with it goes on.", json: bulkResult } },
      needs: ["read-model", "log-writes"],
      problems: ["more-than-expected"],
    },
    takesBody: true,
    handle: (request) => changeMany(dependencies, request),
  });

const pageSize = 50;
const bounds = { atOnce: 10, most: 450, forMs: 1000 };
const countedAtOnce = 1000;
/** Searches, and completed jobs that may be run again, are counted by reading what is found. */
const mostCounted = 20_000;
const mostPagesRead = 100;

async function changeMany(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const asked = readBulkJobs(request.body);
  if (!asked.valid) return refuseFaults(asked.faults);
  const { jobs, filter, dryRun, expected, cursor = null } = asked.value;
  if (filter?.type !== undefined && !jobTypes.includes(filter.type)) {
    return refuseFaults([faultAt("/filter/type", `is no kind of job; expected one of ${jobTypes.join(", ")}`)]);
  }
  const asOf = instantOf(asked.value.asOf) ?? dependencies.now();
  const work = workOf(dependencies, request, asked.value, asOf);
  try {
    const matched = cursor !== null ? null : (jobs?.length ?? (await work.count()));
    if (matched === Number.POSITIVE_INFINITY) return refuseUncounted();
    if (matched !== null && matched > mostCounted && filter?.q !== undefined) return refuseTooMany();
    if (dryRun === true) return json(toBulkAnswer(asOf, matched, nothingDone));
    if (matched !== null && expected !== undefined && matched > expected) return refuseMore(matched, expected);
    const page = jobs === undefined ? work.page : pagesOfList(jobs, pageSize);
    const done = await actOnMany(cursor, { page, act: work.act, ...bounds });
    const nextCursor = jobs === undefined ? done.nextCursor : cursorSince(asOf, done.nextCursor);
    return json(toBulkAnswer(asOf, matched, { ...done, nextCursor }));
  } catch (failure) {
    if (!(failure instanceof InvalidCursor)) throw failure;
    return refuseFaults([faultAt("/cursor", "is not from such an answer; expected its nextCursor")]);
  }
}

const nothingDone = { acted: [], nextCursor: null };

const refuseTooMany = (): Answer =>
  refuseFaults([faultAt("/filter", `matches more than ${mostCounted} jobs; expected a narrower one`)]);

const refuseUncounted = (): Answer =>
  refuseFaults([faultAt("/filter", "matches too many jobs to count; expected a narrower one, as by status or time")]);

export const refuseMore = (matched: number, expected: number): Answer =>
  refuse("more-than-expected", `${matched} match now, and ${expected} were expected: nothing was changed.`, {
    members: { matched, expected },
  });

/** The statuses that allow an action; the job itself decides. */
const allowedIn: Readonly<Record<JobAction, readonly JobStatus[]>> = {
  cancel: ["pending", "scheduled", "queued", "processing", "retrying", "paused"],
  pause: ["pending", "scheduled", "queued", "processing", "retrying"],
  resume: ["paused"],
  retry: ["failed", "completed"],
};

const isLeft = ({ status, progress }: JobRecord): boolean => status !== "completed" || unreachedIn(progress) > 0;

function workOf(dependencies: RouteDependencies, request: ApiRequest, asked: BulkJobsRequest, asOf: Instant) {
  const { jobs, readPosition, ownWrites } = dependencies;
  const { tenant } = request.context;
  const options = optionsOf(asked, asOf);
  const { statuses } = options;
  const list = (cursor: string | null, size: number): Promise<Pick<JobList, "jobs" | "total" | "nextCursor">> =>
    statuses.length === 0
      ? Promise.resolve({ jobs: [], total: 0, nextCursor: null })
      : askReadModel(() => jobs.list(tenant, { ...options, cursor, pageSize: size }));

  return {
    /** More than `mostCounted` where counting on would take too long; infinite where few of very many are counted. */
    count: async (): Promise<number> => {
      await caughtUp(readPosition, "jobs", ownWrites.ofTenant(tenant));
      const first = await list(null, countedAtOnce);
      // Of those that completed, only some can be retried.
      if (first.total !== null && !statuses.includes("completed")) return first.total;
      let count = first.jobs.filter(isLeft).length;
      let pages = 1;
      for (let next = first.nextCursor; next !== null && count <= mostCounted; pages += 1) {
        if (pages === mostPagesRead) return Number.POSITIVE_INFINITY;
        const more = await list(next, countedAtOnce);
        count += more.jobs.filter(isLeft).length;
        next = more.nextCursor;
      }
      return count;
    },
    page: async (cursor: string | null): Promise<PageOfMany> => {
      const { jobs: found, nextCursor } = await list(cursor, pageSize);
      return { items: found.filter(isLeft).map(({ id }) => id), nextCursor };
    },
    act: actOn(dependencies, request, asked, asOf),
  };
}

/** Jobs whose status allows the action, and that were there when they were counted. */
function optionsOf(
  { action, filter = {} }: BulkJobsRequest,
  asOf: Instant,
): Omit<JobListOptions, "cursor" | "pageSize"> {
  const [createdBefore = asOf] = [instantOf(filter.createdBefore) ?? asOf, asOf].sort();
  return {
    statuses: allowedIn[action].filter((status) => filter.status?.includes(status) ?? true),
    type: filter.type ?? null,
    mailing: filter.mailing?.toLowerCase() ?? null,
    createdAfter: instantOf(filter.createdAfter),
    createdBefore,
    q: filter.q ?? null,
    sortBy: "createdAt",
    order: "desc",
    page: 1,
  };
}

function actOn(dependencies: RouteDependencies, request: ApiRequest, asked: BulkJobsRequest, asOf: Instant) {
  const { log, ownWrites, now } = request.inTime(dependencies);
  const { tenant } = request.context;
  const cause = toCause(request.context);
  const statusOfMailing = createStatusOfMailing(log);
  const decide = async (id: string, job: JobRef, isAgain: boolean): Promise<Acted> => {
    const decisions = await log.readDecisions(job);
    if (isAgain && isDecided(decisions, { type: decidedBy[asked.action], actor: cause.actor, asOf })) {
      return { id, outcome: "changed", jobId: job.jobId };
    }
    // Where an earlier call has retried it, it is not retried again.
    const isNewer = (decisions.at(-1)?.event.at ?? "") > asOf;
    if (asked.action === "retry" && isNewer) return { id, outcome: "skipped", code: "changed-since" };
    const from = foldDecisions(decisions);
    const stands = standing[asked.action];
    if (stands !== undefined && (await statusOfMailing(job, from.state)) === stands.status)
      return { id, outcome: "skipped", code: stands.code };
    const outcome = await handleCommand(log, job, commandOf(asked, now()), cause, { from });
    if (outcome.outcome === "rejected") return { id, outcome: "skipped", code: outcome.rejection.code };
    if (outcome.events.length === 0) return { id, outcome: "unchanged" };
    ownWrites.remember(job, outcome.sequence);
    return { id, outcome: "changed", jobId: job.jobId };
  };
  return async (id: string, isAgain: boolean): Promise<Acted> => {
    try {
      return await decide(id, { tenant, jobId: id.toLowerCase() }, isAgain);
    } catch (failure) {
      if (failure instanceof Archived) return { id, outcome: "skipped", code: "archived" };
      throw failure;
    }
  };
}

/** What was decided about a mailing as a whole, and its parts are left out for. */
const standing: Partial<Record<JobAction, { readonly status: "paused" | "cancelled"; readonly code: string }>> = {
  resume: { status: "paused", code: "mailing-is-paused" },
  retry: { status: "cancelled", code: "mailing-has-ended" },
};

const decidedBy: Readonly<Record<JobAction, JobEvent["type"]>> = {
  cancel: "JobCancelled",
  pause: "JobPaused",
  resume: "JobResumed",
  retry: "JobRetried",
};

/** Whether this call has decided so when it came before, and had no answer. */
export const isDecided = (
  decisions: readonly StoredEvent<JobEvent>[],
  { type, actor, asOf }: { readonly type: JobEvent["type"]; readonly actor: string; readonly asOf: Instant },
): boolean => decisions.some((one) => one.event.type === type && one.actor === actor && one.event.at >= asOf);

function commandOf({ action, scope = "failed", reason: why }: BulkJobsRequest, at: Instant): JobCommand {
  const reason = why ?? null;
  switch (action) {
    case "cancel":
      return { type: "CancelJob", at, reason };
    case "pause":
      return { type: "PauseJob", at, reason };
    case "resume":
      return { type: "ResumeJob", at, reason };
    case "retry":
      return { type: "RetryJob", at, scope, reason };
  }
}
