import { InvalidCursor, type JobListOptions } from "../../../projections/jobs/list-options.ts";
import type { JobList } from "../../../projections/jobs/queries.ts";
import { type JobStatus, jobStatuses } from "../../domain/job/job-view.ts";
import { jobTypes } from "../../job-kinds/all-job-kinds.ts";
import { jobPage, toJobAnswer } from "../answers/job.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { oneOf, optionalId, optionalInstant, optionalText, type Parameters, someOf, whole } from "../server/query.ts";
import { route } from "../server/route.ts";
import { askIncluding, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type ListQuery = Omit<JobListOptions, "statuses" | "page"> & {
  readonly status: readonly JobStatus[];
  readonly page: number | null;
};

const parameters: Parameters<ListQuery> = {
  status: someOf(jobStatuses),
  type: oneOf(jobTypes, null),
  mailing: optionalId,
  createdAfter: optionalInstant,
  createdBefore: optionalInstant,
  q: { ...optionalText(200), expected: "a part of the subject or the name, in any case, of 1 to 200 characters" },
  page: whole(null, 1, 1_000_000),
  pageSize: whole(20, 1, 100),
  cursor: optionalText(1000),
  sortBy: oneOf(["createdAt", "completedAt"], "createdAt"),
  order: oneOf(["asc", "desc"], "desc"),
};

/** GET /jobs: the jobs of the tenant, including what this process decided a moment ago. */
export const listJobsRoute = ({ jobs, readPosition, ownWrites }: RouteDependencies) =>
  route<ListQuery>({
    method: "GET",
    path: "/jobs",
    describes: {
      operation: "listJobs",
      summary: "The tenant's jobs, including what this process decided a moment ago.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: jobPage, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, base, query, minSequence }) => {
      if (query.cursor !== null && query.page !== null) {
        return refuseFaults([{ pointer: "?page", message: "page is given beside cursor; expected one of them" }]);
      }
      const { status, page, ...others } = query;
      const options = { ...others, statuses: status, page: page ?? 1 };
      const wanted = Math.max(minSequence, ownWrites.ofTenant(context.tenant));
      try {
        const list = await askIncluding(readPosition, "jobs", wanted, () => jobs.list(context.tenant, options));
        return list.readSequence < minSequence ? refuseBehind(minSequence) : toAnswer(list, options, base);
      } catch (failure) {
        if (!(failure instanceof InvalidCursor)) throw failure;
        return refuseFaults([
          { pointer: "?cursor", message: "cursor is not from a list in this order; expected the nextCursor of one" },
        ]);
      }
    },
  });

function toAnswer(list: JobList, { page, pageSize, cursor }: JobListOptions, base: string): Answer {
  const { total, nextCursor } = list;
  const totalPages = total === null ? null : Math.ceil(total / pageSize);
  // `page` is null for a client that pages by cursor.
  const pagination = { page: cursor === null ? page : null, pageSize, total, totalPages, nextCursor };
  const data = list.jobs.map((job) => toJobAnswer(job, base));
  const body: AnswerOf<typeof jobPage> = { data, pagination };
  return json(body, readSequenceHeader(list.readSequence));
}
