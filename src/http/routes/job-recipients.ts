import type { RecipientList, RecipientListOptions } from "../../../projections/jobs/recipients/queries.ts";
import { readJob } from "../../commands/read-version.ts";
import { type RecipientFilter, recipientFilters } from "../../domain/recipients/recipient-status.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { recipientPage } from "../answers/recipients.ts";
import { type Answer, jobNotFound, json, refuseFaults } from "../server/answer.ts";
import { optionalText, type Parameters, someOf, whole } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { askIncluding, askReadModel, readLastDecision, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type RecipientQuery = Omit<RecipientListOptions, "statuses" | "page"> & {
  readonly status: readonly RecipientFilter[];
  readonly page: number | null;
};

/** The most recipients that a job has: a client that wants all of them sends one request. */
const maxPageSize = 1000;

const parameters: Parameters<RecipientQuery> = {
  status: someOf(recipientFilters),
  email: optionalText(254),
  page: whole(null, 1, 1_000_000),
  pageSize: whole(100, 1, maxPageSize),
  cursor: whole(null, 0, Number.MAX_SAFE_INTEGER),
};

/** GET /jobs/:jobId/recipients: each recipient with its present state, in the order in which the job lists them. */
export const jobRecipientsRoute = ({ log, recipients, readPosition }: RouteDependencies) =>
  route<RecipientQuery>({
    method: "GET",
    path: "/jobs/:jobId/recipients",
    describes: {
      operation: "listJobRecipients",
      summary: "Each recipient with its present state, in the order in which the job lists them.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: recipientPage, headers: ["Read-Sequence"] } },
      needs: ["log", "read-model"],
      problems: ["job-not-found", "read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, part, query, minSequence }) => {
      if (query.cursor !== null && query.page !== null) {
        return refuseFaults([{ pointer: "?page", message: "page is given beside cursor; expected one of them" }]);
      }
      const job = toJobRef(context, part("jobId"));
      if (job === null) return jobNotFound();
      const { status, page, ...others } = query;
      const options = { ...others, statuses: status, page: page ?? 1 };

      const isProjected = async () => (await askReadModel(() => recipients.ofJob(job, options))).list !== null;
      const lastDecision = await readLastDecision(log, job, isProjected);
      if (lastDecision === null) return jobNotFound();
      // A client that has seen the job begin or end sees its recipients in the same state.
      const wanted = Math.max(minSequence, lastDecision);
      const { list, readSequence } = await askIncluding(readPosition, "jobs", wanted, () =>
        recipients.ofJob(job, options),
      );
      // A slightly old answer is allowed; an empty one would be wrong, but for a job that was taken out of the lists.
      if (readSequence < (list === null ? wanted : minSequence)) return refuseBehind(wanted);
      if (list !== null) return toAnswer(list, options);
      const { state } = await readJob(log, job);
      if (state.status === "absent") return jobNotFound();
      if (!state.erased.isRetired) return refuseBehind(wanted);
      return toAnswer({ recipients: [], total: 0, nextCursor: null, readSequence }, options);
    },
  });

function toAnswer(list: RecipientList, { page, pageSize, cursor }: RecipientListOptions): Answer {
  const { recipients, total, nextCursor, readSequence } = list;
  const totalPages = Math.ceil(total / pageSize);
  // `page` is null for a client that pages by cursor.
  const pagination = { page: cursor === null ? page : null, pageSize, total, totalPages, nextCursor };
  const body: AnswerOf<typeof recipientPage> = { data: recipients, pagination };
  return json(body, readSequenceHeader(readSequence));
}
