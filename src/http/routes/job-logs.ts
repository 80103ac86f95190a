import { Type } from "typebox";
import type { LogListOptions } from "../../../projections/jobs/recipients/log-queries.ts";
import { placeFromText, placePattern, placeToText } from "../../event-log/place.ts";
import { jobPath } from "../answers/job.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { logEntries } from "../answers/recipients.ts";
import { jobNotFound, json } from "../server/answer.ts";
import { oneOf, optionalText, type Parameter, type Parameters, whole } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, caughtUp, readLastDecision, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** A job of 1000 recipients has this many lines after a few attempts: a second page is rarely needed. */
const maxEntries = 5000;

const statuses: readonly NonNullable<LogListOptions["status"]>[] = [
  "success",
  "failed",
  "deferred",
  "unknown",
  "suppressed",
  "bounced",
  "complained",
];

const after: Parameter<number | null> = {
  absent: null,
  expected: "the id of a line, or a sequence",
  schema: Type.String({ pattern: placePattern }),
  read: placeFromText,
};

export type LogQuery = LogListOptions;

export const logParameters: Parameters<LogQuery> = {
  status: oneOf(statuses, null),
  email: optionalText(254),
  after,
  limit: whole(maxEntries, 1, maxEntries),
};

/** GET /jobs/:jobId/logs: what happened to each recipient, attempt by attempt, oldest first. */
export const jobLogsRoute = ({ log, jobs, logs, readPosition }: RouteDependencies) =>
  route<LogListOptions>({
    method: "GET",
    path: "/jobs/:jobId/logs",
    describes: {
      operation: "readJobLogs",
      summary: "What happened to each recipient, attempt by attempt.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "Oldest first.", json: logEntries, headers: ["Read-Sequence", "Link"] } },
      needs: ["log", "read-model"],
      problems: ["job-not-found", "read-model-behind"],
    },
    query: logParameters,
    handle: async ({ context, base, part, query, minSequence }) => {
      const job = toJobRef(context, part("jobId"));
      if (job === null) return jobNotFound();
      const behind = await awaitMinSequence(readPosition, "jobs", minSequence);
      if (behind !== null) return behind;

      const isProjected = async () => (await askReadModel(() => jobs.find(job))).job !== null;
      const lastDecision = await readLastDecision(log, job, isProjected);
      if (lastDecision === null) return jobNotFound();
      // A client that has seen the job end reads its whole log: the end stands behind every outcome.
      await caughtUp(readPosition, "jobs", lastDecision);
      const page = await askReadModel(() => logs.list(job, query));
      const next =
        page.next === null ? {} : { Link: nextLogPage(jobPath(base, job.jobId), query, placeToText(page.next)) };
      return json(page.entries satisfies AnswerOf<typeof logEntries>, {
        ...readSequenceHeader(page.readSequence),
        ...next,
      });
    },
  });

/** The header that leads to the next page of the log of a job or a mailing, by the path of that. */
export function nextLogPage(path: string, { status, email, limit }: LogQuery, after: string): string {
  const query = new URLSearchParams({ after, limit: String(limit) });
  if (status !== null) query.set("status", status);
  if (email !== null) query.set("email", email);
  return `<${path}/logs?${query}>; rel="next"`;
}
