import type { JobRecord } from "../../domain/job/job-record.ts";
import type { JobStatus } from "../../domain/job/job-view.ts";
import { type JobRef, LogUnavailable } from "../../event-log/event-log.ts";
import { jobFromLog } from "../../history/job-from-log.ts";
import { jobTypes } from "../../schemas/job-request.ts";
import { json } from "../answer.ts";
import { askReadModel, awaitMinSequence, catchUpMs, readMinSequence, readSequenceHeader } from "../ask-read-model.ts";
import { toLoggable } from "../failure.ts";
import { toJobAnswer } from "../job-answer.ts";
import { toJobRef } from "../job-ref.ts";
import { jobNotFound, refuseFaults } from "../problem.ts";
import { oneOf, optionalInstant, optionalText, type Parameters, someOf, whole } from "../query.ts";
import type { JobListOptions } from "../read-models.ts";
import { type Route, route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const statuses = Object.keys({
  pending: true,
  scheduled: true,
  queued: true,
  processing: true,
  retrying: true,
  paused: true,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<JobStatus, true>) as readonly JobStatus[];

type ListQuery = Omit<JobListOptions, "statuses" | "page"> & {
  readonly status: readonly JobStatus[];
  readonly page: number | null;
};

const listParameters: Parameters<ListQuery> = {
  status: someOf(statuses),
  type: oneOf(jobTypes, null),
  createdAfter: optionalInstant,
  createdBefore: optionalInstant,
  q: optionalText(200),
  page: whole(null, 1, 1_000_000),
  pageSize: whole(20, 1, 100),
  cursor: optionalText(1000),
  sortBy: oneOf(["createdAt", "completedAt"], "createdAt"),
  order: oneOf(["asc", "desc"], "desc"),
};

export const readJobRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  readJobRoute(dependencies),
  listJobsRoute(dependencies),
];

/** GET /jobs/:jobId: from the read model, or from the log itself where that knows more or is all there is. */
const readJobRoute = (dependencies: RouteDependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId",
    handle: async ({ context, base, part, header }) => {
      const minSequence = readMinSequence(header("Min-Sequence"));
      if (!minSequence.valid) return refuseFaults(minSequence.faults);
      const ref = toJobRef(context, part("jobId"));
      if (ref === null) return jobNotFound();
      const behind = await awaitMinSequence(dependencies.readPosition, "jobs", minSequence.value);
      if (behind !== null) return behind;
      const found = await findJob(dependencies, ref);
      return found === null ? jobNotFound() : json(toJobAnswer(found.job, base), readSequenceHeader(found.sequence));
    },
  });

type Found = { readonly job: JobRecord; readonly sequence: number };

async function findJob(
  { jobs, log, contentStore, ownWrites, logger }: RouteDependencies,
  ref: JobRef,
): Promise<Found | null> {
  const row = await askReadModel(() => jobs.find(ref)).catch((failure) => {
    logger.warn({ failure: toLoggable(failure) }, "a job is folded from the log, as the read model cannot be asked");
    return null;
  });
  const projected = row?.job ? { job: row.job, sequence: row.readSequence } : null;
  if (projected !== null && projected.sequence >= ownWrites.ofJob(ref)) return projected;
  try {
    return await jobFromLog(log, contentStore, ref);
  } catch (failure) {
    // Older than it could be, and true.
    if (failure instanceof LogUnavailable && projected !== null) return projected;
    throw failure;
  }
}

/** GET /jobs: the jobs of the tenant, with whatever was decided through this process a moment ago. */
const listJobsRoute = ({ jobs, readPosition, ownWrites }: RouteDependencies) =>
  route<ListQuery>({
    method: "GET",
    path: "/jobs",
    query: listParameters,
    handle: async ({ context, base, query, header }) => {
      const minSequence = readMinSequence(header("Min-Sequence"));
      if (!minSequence.valid) return refuseFaults(minSequence.faults);
      if (query.cursor !== null && query.page !== null) {
        return refuseFaults([{ pointer: "?page", message: "page is given beside cursor; expected one of them" }]);
      }
      const behind = await awaitMinSequence(readPosition, "jobs", minSequence.value);
      if (behind !== null) return behind;
      const own = ownWrites.ofTenant(context.tenant);
      if (own > 0) await readPosition.waitFor("jobs", own, catchUpMs);
      const { status, ...filters } = query;
      const page = query.page ?? 1;
      const list = await askReadModel(() => jobs.list(context.tenant, { ...filters, statuses: status, page }));
      const { pageSize } = query;
      const { total, nextCursor } = list;
      const pagination = { page, pageSize, total, totalPages: Math.ceil(total / pageSize), nextCursor };
      const data = list.jobs.map((job) => toJobAnswer(job, base));
      return json({ data, pagination }, readSequenceHeader(list.readSequence));
    },
  });
